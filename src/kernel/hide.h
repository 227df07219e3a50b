#pragma once

// Between the scores and the softmax, where queries see only some of the keys: caps scores, adds a bias
// and hides the scores of the others.

#include "kernel/cap.h"
#include "kernel/group.h"
#include "kernel/scores.h"

namespace sdpa::kernel::SDPA_ISA {

/// What a hidden score is, and where the maximum begins of which no score is known yet: numerators
/// of hidden scores are 0 above any maximum, this one too. DoubleDouble has no infinities; its
/// bounds claim nothing of scores as large as these.
template <class Real>
inline constexpr NumberOf<Real> kHiddenScore = -__builtin_huge_valf();
template <>
inline constexpr double kHiddenScore<DoubleDouble> = -0x1p1020;
template <class Real>
inline constexpr NumberOf<Real> kNoLargest = std::is_same_v<NumberOf<Real>, float>
                                                 ? NumberOf<Real>(-__FLT_MAX__)
                                                 : NumberOf<Real>(-__DBL_MAX__);
template <>
inline constexpr double kNoLargest<DoubleDouble> = -0x1p1000;

/// Keys first ... end - 1 of a block, `first` being the beginning of a chain.
struct SeenKeys {
  Index first, end;
};

/// From the first chain of which some query of the tile sees a key to the last key that one sees.
template <class Real, int V>
SeenKeys seen_keys(const Sight<NumberOf<Real>>& sight, Index x, Index keys) {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  SeenKeys seen{0, 0};
  for (Index first = 0; first < keys; first += kKeyChain) {
    const std::uint32_t* words = sight.seen + first / kKeyChain * sight.stride + x * kWidth;
    std::uint32_t any = 0;
    for (Index lane = 0; lane < V * kWidth; ++lane) any |= words[lane];
    if (any == 0) continue;
    if (seen.end == 0) seen.first = first;
    seen.end = first + kKeyChain - __builtin_clz(any);
  }
  return seen;
}

/// The words of vector y of a chain, a lane each.
template <class Real>
inline auto lanes_of(const std::uint32_t* words) {
  using Number = NumberOf<Real>;
  typename Lanes<Number>::Bits bits;
  for (Index lane = 0; lane < kLanes<Number>; ++lane)
    bits[lane] = static_cast<std::int32_t>(words[lane]);
  return bits;
}

template <class Vector, class Bits>
inline Vector score_or_hidden(Bits seen, Vector s, Vector hidden_score) {
  return seen != 0 ? s : hidden_score;
}
template <class Bits>
inline DoubleDouble score_or_hidden(Bits seen, DoubleDouble s, DoubleLanes hidden_score) {
  return {seen != 0 ? s.hi : hidden_score, seen != 0 ? s.lo : DoubleLanes{}};
}

/// Hides what the queries of the tile do not see of keys first ... end - 1, whose scores are
/// s [end - first][V].
template <class Real, int V>
void hide(const Sight<NumberOf<Real>>& sight, Index x, SeenKeys keys, Real* s) {
  using Number = NumberOf<Real>;
  using Bits = typename Lanes<Number>::Bits;
  constexpr Index kWidth = kLanes<Number>;
  const VectorOf<Real> hidden_score = broadcast(kHiddenScore<Real>);
  for (Index first = keys.first; first < keys.end; first += kKeyChain, s += kKeyChain * V) {
    const std::uint32_t* words = sight.seen + first / kKeyChain * sight.stride + x * kWidth;
    std::uint32_t all = ~std::uint32_t{0};
    for (Index lane = 0; lane < V * kWidth; ++lane) all &= words[lane];
    if (all == ~std::uint32_t{0}) continue;
    Bits of_vector[V];
    for (int y = 0; y < V; ++y) of_vector[y] = lanes_of<Real>(words + y * kWidth);
    const Index count = smaller(kKeyChain, keys.end - first);
    for (Index i = 0; i < count; ++i)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) {
        const Bits bit = of_vector[y] & static_cast<std::int32_t>(std::uint32_t{1} << i);
        s[i * V + y] = score_or_hidden(bit, s[i * V + y], hidden_score);
      }
  }
}

/// factor * s + bias, the factor being a sum of two numbers.
template <class Vector>
inline Vector scale_and_add(Vector s, const DoubleDoubleOf<Vector>& factor, Vector bias) {
  return fma(s, factor.hi, fma(s, factor.lo, bias));
}
inline DoubleDouble scale_and_add(DoubleDouble s, const DoubleDouble& factor, DoubleLanes bias) {
  return add(multiply(s, factor), bias);
}

/// What scores are multiplied with before a bias is added: c, or 1 where they are capped.
template <class Real>
inline DoubleDoubleOf<VectorOf<Real>> bias_factor(const Question& question) {
  using Number = NumberOf<Real>;
  if (question.cap != 0) return {broadcast(Number(1)), broadcast(Number(0))};
  return {broadcast(static_cast<Number>(question.score_scale_high)),
          broadcast(static_cast<Number>(question.score_scale_low))};
}

/// Scores s [keys][V], capped.
template <class Real, int V>
void cap_block(const Question& question, Index keys, Real* s) {
  using Number = NumberOf<Real>;
  constexpr int kTogether = Arithmetic<Real>::kTogether;
  const auto scale = make_scale<Number>(
      DoubleDoubleOf<VectorOf<Real>>{broadcast(static_cast<Number>(question.cap_scale_high)),
                                     broadcast(static_cast<Number>(question.cap_scale_low))});
  const VectorOf<Real> cap = broadcast(static_cast<Number>(question.cap));
  auto take = [&]<int count>(Index i) __attribute__((always_inline)) {
    Real some[count];
#pragma GCC unroll 8
    for (int n = 0; n < count; ++n) some[n] = s[i + n];
    cap_scores(some, scale, cap);
#pragma GCC unroll 8
    for (int n = 0; n < count; ++n) s[i + n] = some[n];
  };
  Index i = 0;
  for (; i + kTogether <= keys * V; i += kTogether) take.template operator()<kTogether>(i);
  for (; i < keys * V; ++i) take.template operator()<1>(i);
}

/// Scores of keys first ... end - 1, s [end - first][V], scaled and with the bias added.
template <class Real, int V>
void add_bias(const Question& question, const Sight<NumberOf<Real>>& sight, Index x, SeenKeys keys,
              Real* s) {
  using Number = NumberOf<Real>;
  constexpr Index kWidth = kLanes<Number>;
  const DoubleDoubleOf<VectorOf<Real>> factor = bias_factor<Real>(question);
  const Index lanes = smaller(V * kWidth, question.queries - x * kWidth);
  for (Index first = keys.first; first < keys.end; first += kKeyChain) {
    const Index count = smaller(kKeyChain, keys.end - first);
    VectorOf<Real> bias[kKeyChain][V] = {};
    for (Index lane = 0; lane < lanes; ++lane) {
      const Number* row = sight.bias[x * kWidth + lane] + first;
      for (Index i = 0; i < count; ++i) bias[i][lane / kWidth][lane % kWidth] = row[i];
    }
    for (Index i = 0; i < count; ++i, s += V)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) s[y] = scale_and_add(s[y], factor, bias[i][y]);
  }
}

/// Scores of the keys that queries of the tile see, from the scores as q k^T has them.
template <class Real, int V>
void seen_scores(const Group<Real>& group, const Sight<NumberOf<Real>>& sight, Index x,
                 const NumberOf<Real>* k, SeenKeys keys) {
  const Index d_k = group.question.d_k;
  scores<Real, V>(group.q + x * d_k, k + keys.first * d_k, keys.end - keys.first, d_k, group.s);
  if (group.question.cap != 0) cap_block<Real, V>(group.question, keys.end - keys.first, group.s);
  if (sight.bias != nullptr) add_bias<Real, V>(group.question, sight, x, keys, group.s);
  hide<Real, V>(sight, x, keys, group.s);
}

}  // namespace sdpa::kernel::SDPA_ISA
