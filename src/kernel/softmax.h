#pragma once

// Second stage: scores to numerators of the weights, and their sums.

#include "kernel/group.h"

namespace sdpa::kernel::SDPA_ISA {

template <class Vector>
inline bool any_differs(Vector a, Vector b) {
  const auto differs = a != b;
  for (std::size_t lane = 0; lane < sizeof differs / sizeof differs[0]; ++lane)
    if (differs[lane] != 0) return true;
  return false;
}

/// Scores to numerators of the weights, 2^(scale * (s - largest)), in place.
template <class Real, int count>
[[gnu::always_inline]] inline void numerators(Real (&s)[count], const ScaleOf<Real>& scale,
                                              VectorOf<Real> largest) {
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) s[i] = subtract(s[i], largest);
  exp2(s, scale);
}

/// What numerators above `before` are to be multiplied with so that they are above `largest`.
template <class Real>
Real raise_factor(VectorOf<Real> before, VectorOf<Real> largest, const ScaleOf<Real>& scale) {
  Real factor[] = {difference<Real>(before, largest)};
  exp2(factor, scale);
  return factor[0];
}

/// Raises the maximum of vector x + y to that of the block, and scales down what was summed before.
template <class Real, int V>
void raise_largest(Group<Real>& group, Index x, Index y, const ScaleOf<Real>& scale,
                   VectorOf<Real> block_largest) {
  const auto before = group.empty ? block_largest : group.largest[x + y];
  const auto largest = larger(block_largest, before);
  group.largest[x + y] = largest;
  if (!any_differs(largest, before)) return;
  const Real factor = raise_factor<Real>(before, largest, scale);
  group.sum[x + y] = multiply(group.sum[x + y], factor);
  group.squares[x + y] *= high(factor) * high(factor);
  auto* o = group.o + x * group.question.d_v;
  for (Index d = 0; d < group.question.d_v; ++d) o[d * V + y] = multiply(o[d * V + y], factor);
}

/// Scores of one vector of queries and the keys first ... last - 1 to numerators, in place. Returns
/// their sum. Inlined, so that the constants are made once a block.
template <class Real, int V>
[[gnu::always_inline]] inline Real softmax_chain(Group<Real>& group, Index x, Index y,
                                                 const ScaleOf<Real>& scale, Index first,
                                                 Index last) {
  const VectorOf<Real> largest = group.largest[x + y];
  VectorOf<Real> squares = group.squares[x + y];
  Real chain = {};
  auto take = [&]<int keys>(Index j) __attribute__((always_inline)) {
    Real* s = group.s + j * V + y;
    Real p[keys];
#pragma GCC unroll 8
    for (int i = 0; i < keys; ++i) p[i] = s[i * V];
    numerators(p, scale, largest);
#pragma GCC unroll 8
    for (int i = 0; i < keys; ++i) {
      s[i * V] = p[i];
      chain = add(chain, p[i]);
      if constexpr (Arithmetic<Real>::kSquares) squares = fma(high(p[i]), high(p[i]), squares);
    }
  };
  constexpr int kTogether = Arithmetic<Real>::kTogether;
  Index j = first;
  for (; j + kTogether <= last; j += kTogether) take.template operator()<kTogether>(j);
  for (; j < last; ++j) take.template operator()<1>(j);
  group.squares[x + y] = squares;
  return chain;
}

/// Scores of a block to numerators, in place, and their sums.
template <class Real, int V>
void softmax(Group<Real>& group, Index x, const ScaleOf<Real>& scale, Index keys) {
  if (!group.question.bounded) {
    const Real* s = group.s;
    VectorOf<Real> largest[V];
    for (int y = 0; y < V; ++y) largest[y] = high(s[y]);
    for (Index j = 1; j < keys; ++j)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) largest[y] = larger(high(s[j * V + y]), largest[y]);
    for (int y = 0; y < V; ++y) raise_largest<Real, V>(group, x, y, scale, largest[y]);
  }
  for (int y = 0; y < V; ++y) {
    Real block = {};
    for (Index first = 0; first < keys; first += kKeyChain) {
      const Index last = smaller(first + kKeyChain, keys);
      block = add(block, softmax_chain<Real, V>(group, x, y, scale, first, last));
    }
    group.sum[x + y] = add(group.sum[x + y], block);
  }
}

}  // namespace sdpa::kernel::SDPA_ISA
