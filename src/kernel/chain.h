#pragma once

// Sums of products, the inner loop of both matrix products.

#include "kernel/arithmetic.h"

namespace sdpa::kernel::SDPA_ISA {

/// Keys or columns that share the loads of V vectors of queries. More than 8 of them would need more
/// addresses than there are registers for.
template <class Real, int V>
constexpr int kAcross = smaller(Arithmetic<Real>::kSums / V, 8);

/// 1, of which compilers know nothing. Of numbers that lie side by side they would make one load
/// and shuffles, which are slower than a broadcast from memory for each.
inline Index unknown_one() {
  Index one = 1;
  asm("" : "+r"(one));
  return one;
}

/// Has `count` numbers brought into the nearest cache while others are worked on.
template <class Number>
[[gnu::always_inline]] inline void prefetch(const Number* numbers, Index count) {
  constexpr Index kLine = 64 / sizeof(Number);
  for (Index i = 0; i < count; i += kLine) __builtin_prefetch(numbers + i);
}

/// sums[x][y] = sum_i a[i][y] * b[x * across + i * along] over i = 0 ... steps - 1, in this order,
/// without normalising. One register a sum, as long as X * V is at most kSums.
template <class Real, class Factor, int X, int V>
[[gnu::always_inline]] inline void sum_chain(const Factor* a, const NumberOf<Real>* b, Index across,
                                             Index along, Index steps, Real (&sums)[X][V]) {
#pragma GCC unroll 12
  for (int x = 0; x < X; ++x)
#pragma GCC unroll 3
    for (int y = 0; y < V; ++y) sums[x][y] = product<Real>(a[y], broadcast(b[x * across]));
#pragma GCC unroll 4
  for (Index i = 1; i < steps; ++i) {
    a += V;
    b += along;
#pragma GCC unroll 12
    for (int x = 0; x < X; ++x) {
      const auto b_xi = broadcast(b[x * across]);
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) sums[x][y] = add_product(a[y], b_xi, sums[x][y]);
    }
  }
}

/// to[x * V + y] becomes the first chain's sum, or grows by a later one's.
template <class Real, int X, int V>
[[gnu::always_inline]] inline void join_chain(const Real (&sums)[X][V], bool first, Real* to) {
  if (first) {
#pragma GCC unroll 12
    for (int x = 0; x < X * V; ++x) to[x] = normalise(sums[x / V][x % V]);
  } else {
#pragma GCC unroll 12
    for (int x = 0; x < X * V; ++x) to[x] = add(to[x], normalise(sums[x / V][x % V]));
  }
}

}  // namespace sdpa::kernel::SDPA_ISA
