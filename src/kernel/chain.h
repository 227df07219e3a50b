#pragma once

// Sums of products, the inner loop of both matrix products.

#include "kernel/arithmetic.h"

namespace sdpa::kernel::SDPA_ISA {

/// Keys or columns that share the loads of V vectors of queries. More than 8 of them would need
/// more addresses than there are registers for.
template <class Real, int V>
constexpr int kAcross = smaller(Arithmetic<Real>::kSums / V, 8);

/// x, of which compilers know nothing from here on. Numbers that they know to lie side by side they
/// read by one load and shuffles, which are slower than a broadcast from memory for each.
template <class T>
[[gnu::always_inline]] inline T hidden(T x) {
  asm("" : "+r"(x));
  return x;
}

/// One step of a chain: sums[x][y] += a[y] * b[x * across].
template <class Real, class Factor, int X, int V>
[[gnu::always_inline]] inline void add_step(const Factor* a, const NumberOf<Real>* b, Index across,
                                            Real (&sums)[X][V]) {
#pragma GCC unroll 12
  for (int x = 0; x < X; ++x) {
    const auto b_x = broadcast(b[x * across]);
#pragma GCC unroll 3
    for (int y = 0; y < V; ++y) sums[x][y] = add_product(a[y], b_x, sums[x][y]);
  }
}

/// sums[x][y] = sum_i a[i][y] * b[x * across + i * along] over i = 0 ... steps - 1, in this order,
/// without normalising. One register a sum, as long as X * V is at most kSums.
///
/// A chain of kFull steps of one instruction each is unrolled, and has as many numbers as it
/// multiplies brought into the nearest cache from `next` on, a line at a time: several at once
/// would hold up the multiplications.
template <Index kFull, class Real, class Factor, int X, int V>
[[gnu::always_inline]] inline void sum_chain(const Factor* a, const NumberOf<Real>* b, Index across,
                                             Index along, Index steps, const NumberOf<Real>* next,
                                             Real (&sums)[X][V]) {
  constexpr Index kLine = 64 / sizeof(NumberOf<Real>), kStepsOfLine = kLine > X ? kLine / X : 1;
#pragma GCC unroll 12
  for (int x = 0; x < X; ++x)
#pragma GCC unroll 3
    for (int y = 0; y < V; ++y) sums[x][y] = product<Real>(a[y], broadcast(b[x * across]));
  if (kHasFma && steps == kFull) {
#pragma GCC unroll 32
    for (Index i = 1; i < kFull; ++i) {
      if (i % kStepsOfLine == kStepsOfLine / 2) __builtin_prefetch(next + i * X);
      b = hidden(b + along);
      add_step(a + i * V, b, across, sums);
    }
  } else {
    for (Index i = 1; i < steps; ++i) {
      b = hidden(b + along);
      add_step(a + i * V, b, across, sums);
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
