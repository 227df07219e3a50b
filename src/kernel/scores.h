#pragma once

// First stage: dot products of a tile of queries with the keys of a block.

#include "kernel/chain.h"

namespace sdpa::kernel::SDPA_ISA {

/// s[x][y] = sum_i q[i][y] * k[x][i] for X keys.
template <class Real, int X, int V>
[[gnu::always_inline]] inline void score_keys(const FactorOf<Real>* q, const NumberOf<Real>* k,
                                              Index d_k, Index one, Real* s) {
  for (Index i = 0; i < d_k; i += kFeatureChain) {
    Real sums[X][V];
    // Its share of the next X keys.
    if constexpr (X > 1) prefetch(k + X * (d_k + i), X * kFeatureChain);
    sum_chain(q + i * V, k + i, d_k, one, smaller(kFeatureChain, d_k - i), sums);
    join_chain(sums, i == 0, s);
  }
}

/// Scores of a block, not yet scaled:  s [keys][V]
template <class Real, int V>
void scores(const FactorOf<Real>* q, const NumberOf<Real>* k, Index keys, Index d_k, Real* s) {
  constexpr int kKeys = kAcross<Real, V>;
  const Index one = unknown_one();
  Index j = 0;
  for (; j + kKeys <= keys; j += kKeys)
    score_keys<Real, kKeys, V>(q, k + j * d_k, d_k, one, s + j * V);
  for (; j < keys; ++j) score_keys<Real, 1, V>(q, k + j * d_k, d_k, one, s + j * V);
}

}  // namespace sdpa::kernel::SDPA_ISA
