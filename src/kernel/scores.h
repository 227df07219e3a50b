#pragma once

// First stage: dot products of a tile of queries with the keys of a block.

#include "kernel/arithmetic.h"

namespace sdpa::kernel::SDPA_ISA {

/// s[j][y] = scale * sum_i q[i][y] * k[j][i] for K keys.
template <class Real, int K, int V>
inline void score_keys(const VectorOf<Real>* q, const NumberOf<Real>* k, Index d_k, Real scale,
                       Real* s) {
  for (Index first = 0; first < d_k; first += kFeatureChain) {
    const Index last = smaller(first + kFeatureChain, d_k);
    Real chain[K][V] = {};
    for (Index i = first; i < last; ++i) {
#pragma GCC unroll 12
      for (int x = 0; x < K; ++x) {
        const auto k_ji = broadcast(k[x * d_k + i]);
#pragma GCC unroll 3
        for (int y = 0; y < V; ++y) chain[x][y] = multiply_add(q[i * V + y], k_ji, chain[x][y]);
      }
    }
#pragma GCC unroll 12
    for (int x = 0; x < K; ++x)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) {
        const Real sum = normalise(chain[x][y]);
        s[x * V + y] = first == 0 ? sum : add(s[x * V + y], sum);
      }
  }
  for (int x = 0; x < K * V; ++x) s[x] = multiply(s[x], scale);
}

/// Scores of a block:  s [keys][V]
template <class Real, int V>
void scores(const VectorOf<Real>* q, const NumberOf<Real>* k, Index keys, Index d_k, Real scale,
            Real* s) {
  constexpr int kKeys = Arithmetic<Real>::kSums / V;
  Index j = 0;
  for (; j + kKeys <= keys; j += kKeys)
    score_keys<Real, kKeys, V>(q, k + j * d_k, d_k, scale, s + j * V);
  for (; j < keys; ++j) score_keys<Real, 1, V>(q, k + j * d_k, d_k, scale, s + j * V);
}

}  // namespace sdpa::kernel::SDPA_ISA
