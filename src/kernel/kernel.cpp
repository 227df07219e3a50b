// The loops of attention, for groups of queries. Compiled once per instruction set.
//
// The textbook, for one query q_t, and where the fast form of each line is:
//
//   m = -inf, sum = 0, o[d] = 0                                          group.h          begin
//   for each block of keys:                                              kernel.cpp       absorb
//     for j in the block:
//       s[j] = 0                                                         scores.h
//       for i < d_k:  s[j] += q_t[i] * k[j][i]                           chain.h
//     m' = max(m, max_j s[j])                                            softmax.h
//     sum *= 2^(c (m - m')), o[d] *= 2^(c (m - m')), m = m'              softmax.h        raise_largest
//     for j in the block:
//       p[j] = 2^(c (s[j] - m)), where c = log2(e)/sqrt(d_k)             exp.h
//       sum += p[j]                                                      softmax.h        softmax_chain
//       for d < d_v:  o[d] += p[j] * v[j][d]                             weighted_sum.h   (chain.h)
//   o[d] /= sum                                                          kernel.cpp       finish
//
// It runs in three arithmetics (arithmetic.h), for many queries at once: the lanes of a vector
// (lanes.h) are queries. A group of queries is cut into tiles of up to kVectors vectors, and keys
// come in blocks. For one tile and one block:
//
//        d_k features                 keys of the block                d_v features
//     +----------------+            +-------------------+            +----------------+
//     | i: V vectors   |   scores   | j: V vectors      |  weighted  | d: V vectors   |
//   q |    of queries  |  ------->  |    of queries     |  ------->  |    of queries  |  output
//     +----------------+     k_j    +-------------------+  sum, v_j  +----------------+
//                                      softmax, in place
//
// Both products have one inner loop: kSums / V keys (or columns of v) times V vectors of sums in
// registers. A step, a feature of the scores or a key of the weighted sum, loads V vectors of q (or
// of numerators) and broadcasts one number of each key (or column), as they lie. The running maximum
// is that of online softmax (Milakov, Gimelshein, "Online normalizer calculation for softmax",
// 2018).
//
// hide.h          Between scores and softmax where queries see only some of the keys.
// cap.h           The same where scores are capped.
// sink.h          Before finish divides, where a sink is one more numerator.
//
// So T_q x T_k scores are never stored, k and v are neither packed nor transposed, and a block of
// them in the cache serves all tiles of a group. A sum is a hierarchy of short chains, so that its
// error does not grow with its length: kFeatureChain features or kKeyChain keys in a register,
// chains into a block, blocks into a span of kKeySpan keys, spans into a compensated total (merge);
// so threads can share a few queries with many keys. All of this is fixed by the shape (blocks.h),
// and a lane is the textbook's loop: bits do not depend on the instruction set.

#include "kernel/kernel.h"

#include "kernel/group.h"
#include "kernel/hide.h"
#include "kernel/scores.h"
#include "kernel/sink.h"
#include "kernel/softmax.h"
#include "kernel/weighted_sum.h"

namespace sdpa::kernel::SDPA_ISA {

namespace {

template <class Real>
void absorb(void* workspace, const NumberOf<Real>* k, const NumberOf<Real>* v, Index keys) {
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_k = group.question.d_k;
  const ScaleOf<Real> scale = scale_of<Real>(group.question);
  for_each_tile(group, [&]<int V>(Index x) {
    scores<Real, V>(group.q + x * d_k, k, keys, d_k, group.s);
    softmax<Real, V>(group, x, scale, keys);
    weighted_sum<Real, V>(group, x, v, keys);
  });
  group.empty = false;
}

template <class Real>
void absorb_visible(void* workspace, const NumberOf<Real>* k, const NumberOf<Real>* v, Index keys,
                    const Sight<NumberOf<Real>>& sight) {
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_v = group.question.d_v;
  const ScaleOf<Real> scale = scale_of<Real>(group.question);
  if (group.empty && !group.question.bounded)
    for (Index x = 0; x < group.vectors; ++x) group.largest[x] = broadcast(kNoLargest<Real>);
  group.empty = false;
  for_each_tile(group, [&]<int V>(Index x) {
    const SeenKeys seen = seen_keys<Real, V>(sight, x, keys);
    if (seen.end == 0) return;
    seen_scores<Real, V>(group, sight, x, k, seen);
    softmax<Real, V>(group, x, scale, seen.end - seen.first);
    weighted_sum<Real, V>(group, x, v + seen.first * d_v, seen.end - seen.first);
  });
}

template <class Real>
void merge(void* workspace, const void* next) {
  auto& group = *static_cast<Group<Real>*>(workspace);
  const auto& other = *static_cast<const Group<Real>*>(next);
  const Index d_v = group.question.d_v;
  const ScaleOf<Real> scale = scale_of<Real>(group.question);
  if (!group.merged) {
    for (Index i = 0; i < group.vectors * d_v; ++i) group.o_lost[i] = Real{};
    for (Index x = 0; x < group.vectors; ++x) group.sum_lost[x] = Real{};
  }
  group.merged = true;
  for_each_tile(group, [&]<int V>(Index x) {
    for (Index y = 0; y < V; ++y) {
      const auto largest = larger(group.largest[x + y], other.largest[x + y]);
      const Real here = raise_factor<Real>(group.largest[x + y], largest, scale);
      const Real there = raise_factor<Real>(other.largest[x + y], largest, scale);
      auto join = [&](Real& total, Real& lost, const Real& more) {
        lost = multiply(lost, here);
        total = add_to_total(multiply(total, here), multiply(more, there), lost);
      };
      group.largest[x + y] = largest;
      join(group.sum[x + y], group.sum_lost[x + y], other.sum[x + y]);
      group.squares[x + y] = group.squares[x + y] * (high(here) * high(here)) +
                             other.squares[x + y] * (high(there) * high(there));
      for (Index d = 0; d < d_v; ++d) {
        const Index at = x * d_v + d * V + y;
        join(group.o[at], group.o_lost[at], other.o[at]);
      }
    }
  });
}

inline void store_lane(const FloatLanes& x, Index lane, float* out, float*, Index at) {
  out[at] = x[lane];
}
inline void store_lane(const DoubleLanes& x, Index lane, double* out, double*, Index at) {
  out[at] = x[lane];
}
inline void store_lane(const DoubleDouble& x, Index lane, double* out, double* out_low, Index at) {
  out[at] = x.hi[lane];
  out_low[at] = x.lo[lane];
}

template <class Real>
void finish(void* workspace, NumberOf<Real>* o, NumberOf<Real>* o_low,
            const RowSums<NumberOf<Real>>& sums) {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_v = group.question.d_v;
  for_each_tile(group, [&]<int V>(Index x) {
    for (Index y = 0; y < V; ++y) {
      const Index first = (x + y) * kWidth;
      const Index lanes = smaller(kWidth, group.question.queries - first);
      Real* o_x = group.o + x * d_v + y;
      const Real* o_lost = group.o_lost + x * d_v + y;
      if (group.merged) {
        group.sum[x + y] = add(group.sum[x + y], group.sum_lost[x + y]);
        for (Index d = 0; d < d_v; ++d) o_x[d * V] = add(o_x[d * V], o_lost[d * V]);
      }
      if (group.question.sinks != nullptr) add_sinks<Real, V>(group, x, y);
      const Real sum = group.sum[x + y];
      for (Index lane = 0; lane < lanes; ++lane) {
        store_lane(sum, lane, sums.sums, sums.sums_low, first + lane);
        sums.squares[first + lane] = group.squares[x + y][lane];
        sums.largest[first + lane] = group.largest[x + y][lane];
      }
      for (Index d = 0; d < d_v; ++d) o_x[d * V] = divide(o_x[d * V], sum);
      for (Index lane = 0; lane < lanes; ++lane)
        for (Index d = 0; d < d_v; ++d)
          store_lane(o_x[d * V], lane, o, o_low, (first + lane) * d_v + d);
    }
  });
}

/// Weights of the keys of a block whose scores are group.s [end - first][V], for one tile.
template <class Real, int V>
void store_weights(const Group<Real>& group, Index x, SeenKeys keys, NumberOf<Real>* w,
                   NumberOf<Real>* w_low, Index stride) {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  const ScaleOf<Real> scale = scale_of<Real>(group.question);
  for (Index y = 0; y < V; ++y) {
    const Index first = (x + y) * kWidth;
    const Index lanes = smaller(kWidth, group.question.queries - first);
    const bool has_sinks = group.question.sinks != nullptr;
    const Real sum = group.sum[x + y];
    for (Index j = keys.first; j < keys.end; ++j) {
      Real p[] = {group.s[(j - keys.first) * V + y]};
      numerators(p, scale, group.largest[x + y]);
      if (has_sinks) p[0] = multiply(p[0], group.lowered[x + y]);
      const Real weight = divide(p[0], sum);
      for (Index lane = 0; lane < lanes; ++lane)
        store_lane(weight, lane, w, w_low, (first + lane) * stride + j);
    }
  }
}

template <class Real>
void weights(void* workspace, const NumberOf<Real>* k, Index keys, NumberOf<Real>* w,
             NumberOf<Real>* w_low, Index stride) {
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_k = group.question.d_k;
  for_each_tile(group, [&]<int V>(Index x) {
    scores<Real, V>(group.q + x * d_k, k, keys, d_k, group.s);
    store_weights<Real, V>(group, x, {0, keys}, w, w_low, stride);
  });
}

template <class Real>
void weights_visible(void* workspace, const NumberOf<Real>* k, Index keys,
                     const Sight<NumberOf<Real>>& sight, NumberOf<Real>* w, NumberOf<Real>* w_low,
                     Index stride) {
  auto& group = *static_cast<Group<Real>*>(workspace);
  for (Index t = 0; t < group.question.queries; ++t)
    for (Index j = 0; j < keys; ++j) {
      w[t * stride + j] = 0;
      if constexpr (Arithmetic<Real>::kHasLow) w_low[t * stride + j] = 0;
    }
  for_each_tile(group, [&]<int V>(Index x) {
    const SeenKeys seen = seen_keys<Real, V>(sight, x, keys);
    if (seen.end == 0) return;
    seen_scores<Real, V>(group, sight, x, k, seen);
    store_weights<Real, V>(group, x, seen, w, w_low, stride);
  });
}

template <class Real>
constexpr Kernel<NumberOf<Real>> kernel_of() {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  return {Arithmetic<Real>::kVectors * Arithmetic<Real>::kTiles * kWidth,
          kWidth,
          Arithmetic<Real>::kHasLow,
          Arithmetic<Real>::kError,
          workspace_bytes<Real>,
          begin<Real>,
          absorb<Real>,
          absorb_visible<Real>,
          merge<Real>,
          finish<Real>,
          weights<Real>,
          weights_visible<Real>};
}

}  // namespace

extern const Kernel<float> float32 = kernel_of<FloatLanes>();
extern const Kernel<double> float64 = kernel_of<DoubleLanes>();
extern const Kernel<double> double_double = kernel_of<DoubleDouble>();

}  // namespace sdpa::kernel::SDPA_ISA
