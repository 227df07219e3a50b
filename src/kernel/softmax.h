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

/// Raises the maximum of vector x + y to that of the block and scales down what was summed before.
template <class Real, int V>
void raise_largest(Group<Real>& group, Index x, Index y, const Real* s, Index keys) {
  const auto before = group.empty ? high(s[y]) : group.largest[x + y];
  auto largest = before;
  for (Index j = 0; j < keys; ++j) largest = larger(high(s[j * V + y]), largest);
  group.largest[x + y] = largest;
  if (group.empty || !any_differs(largest, before)) return;
  const Real factor = exp(subtract(from_high<Real>(before), largest));
  group.sum[x + y] = multiply(group.sum[x + y], factor);
  group.squares[x + y] *= high(factor) * high(factor);
  auto* o = group.o + x * group.question.d_v;
  for (Index d = 0; d < group.question.d_v; ++d) o[d * V + y] = multiply(o[d * V + y], factor);
}

/// Scores of a block to numerators exp(s - largest), in place, and their sums.
template <class Real, int V>
void softmax(Group<Real>& group, Index x, Index keys) {
  Real* s = group.s;
  if (!group.question.bounded)
    for (Index y = 0; y < V; ++y) raise_largest<Real, V>(group, x, y, s, keys);

  VectorOf<Real> largest[V], squares[V];
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
        const Real p = exp(subtract(s[j * V + y], largest[y]));
        s[j * V + y] = p;
        chain[y] = add(chain[y], p);
        squares[y] = fma(high(p), high(p), squares[y]);
      }
    for (int y = 0; y < V; ++y) group.sum[x + y] = add_to_total(group.sum[x + y], chain[y]);
  }
  for (int y = 0; y < V; ++y) group.squares[x + y] = squares[y];
}

}  // namespace sdpa::kernel::SDPA_ISA
