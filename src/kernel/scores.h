#pragma once

// First stage: dot products of a tile of queries with the keys of a block.

#include "kernel/chain.h"

namespace sdpa::kernel::SDPA_ISA {

/// s[x][y] = sum_i q[i][y] * k[x][i] for X keys.
template <class Real, int X, int V>
[[gnu::always_inline]] inline void score_keys(const FactorOf<Real>* q, const NumberOf<Real>* k,
                                              Index d_k, Real* s) {
  for (Index i = 0; i < d_k; i += kFeatureChain) {
    Real sums[X][V];
    const NumberOf<Real>* next = k + X * (d_k + i);  // its share of the next X keys
    sum_chain<kFeatureChain>(q + i * V, k + i, d_k, 1, smaller(kFeatureChain, d_k - i), next, sums);
    join_chain(sums, i == 0, s);
  }
}

/// Scores of a block, not yet scaled:  s [keys][V]
template <class Real, int V>
void scores(const FactorOf<Real>* q, const NumberOf<Real>* k, Index keys, Index d_k, Real* s) {
  constexpr int kKeys = kAcross<Real, V>;
  Index j = 0;
  for (; j + kKeys <= keys; j += kKeys) score_keys<Real, kKeys, V>(q, k + j * d_k, d_k, s + j * V);
  for (; j < keys; ++j) score_keys<Real, 1, V>(q, k + j * d_k, d_k, s + j * V);
}

}  // namespace sdpa::kernel::SDPA_ISA
