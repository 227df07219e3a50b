#pragma once

// Second stage: scores to numerators of the weights, and their sums.

#include "kernel/exp.h"
#include "kernel/group.h"

namespace sdpa::kernel::SDPA_ISA {

template <class Vector>
inline bool any_differs(Vector a, Vector b) {
  const auto differs = a != b;
  for (std::size_t lane = 0; lane < sizeof differs / sizeof differs[0]; ++lane)
    if (differs[lane] != 0) return true;
  return false;
}

/// Numerator of the weight of a score: exp(scale * s - largest).
template <class Real>
inline Real numerator(Real s, Real scale, VectorOf<Real> largest) {
  return exp(subtract(multiply(s, scale), largest));
}

/// Raises the maximum of vector x + y to that of the block, whose largest score is given, and
/// scales down what was summed before.
template <class Real, int V>
void raise_largest(Group<Real>& group, Index x, Index y, Real scale, VectorOf<Real> largest_score) {
  const auto block_largest = high(multiply(from_high<Real>(largest_score), scale));
  const auto before = group.empty ? block_largest : group.largest[x + y];
  const auto largest = larger(block_largest, before);
  group.largest[x + y] = largest;
  if (!any_differs(largest, before)) return;
  const Real factor = exp(difference<Real>(before, largest));
  group.sum[x + y] = multiply(group.sum[x + y], factor);
  group.squares[x + y] *= high(factor) * high(factor);
  auto* o = group.o + x * group.question.d_v;
  for (Index d = 0; d < group.question.d_v; ++d) o[d * V + y] = multiply(o[d * V + y], factor);
}

/// Scores of a block to numerators, in place, and their sums.
template <class Real, int V>
void softmax(Group<Real>& group, Index x, Real scale, Index keys) {
  Real* s = group.s;
  VectorOf<Real> largest[V], squares[V];
  if (!group.question.bounded) {
    for (int y = 0; y < V; ++y) largest[y] = high(s[y]);
    for (Index j = 1; j < keys; ++j)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) largest[y] = larger(high(s[j * V + y]), largest[y]);
    for (int y = 0; y < V; ++y) raise_largest<Real, V>(group, x, y, scale, largest[y]);
  }
  for (int y = 0; y < V; ++y) {
    largest[y] = group.largest[x + y];
    squares[y] = group.squares[x + y];
  }
  for (Index first = 0; first < keys; first += kKeyChain) {
    const Index last = smaller(first + kKeyChain, keys);
    Real chain[V] = {};
    for (Index j = first; j < last; ++j)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) {
        const Real p = numerator(s[j * V + y], scale, largest[y]);
        s[j * V + y] = p;
        chain[y] = add(chain[y], p);
        if constexpr (Arithmetic<Real>::kSquares) squares[y] = fma(high(p), high(p), squares[y]);
      }
    for (int y = 0; y < V; ++y) group.sum[x + y] = add_to_total(group.sum[x + y], chain[y]);
  }
  for (int y = 0; y < V; ++y) group.squares[x + y] = squares[y];
}

}  // namespace sdpa::kernel::SDPA_ISA
