#pragma once

#include "base/index.h"

#include <cmath>

/// The textbook, in any arithmetic: plain loops, sums in order, the exp of the standard library.
namespace sdpa::naive {

/// Scores of one query against all keys:  s[j] = sum_i q_t[i] * k[j][i] / sqrt(d_k).
///
/// q_t   [d_k]        one row of queries
/// k     [T_k][d_k]
/// s     [T_k]        overwritten
template <class Real>
void scores(const Real* q_t, const Real* k, Index T_k, Index d_k, Real* s) {
  for (Index j = 0; j < T_k; ++j) {
    s[j] = 0;
    for (Index i = 0; i < d_k; ++i) s[j] += q_t[i] * k[j * d_k + i];
    s[j] /= std::sqrt(static_cast<Real>(d_k));
  }
}

/// Weights from scores, in place:  w[j] = exp(s[j] - max s) / sum_j exp(s[j] - max s).
///
/// s   [T_k]   at least one
template <class Real>
void softmax(Real* s, Index T_k) {
  Real largest = s[0];
  for (Index j = 1; j < T_k; ++j)
    if (s[j] > largest) largest = s[j];
  Real sum = 0;
  for (Index j = 0; j < T_k; ++j) sum += s[j] = std::exp(s[j] - largest);
  for (Index j = 0; j < T_k; ++j) s[j] /= sum;
}

/// Output of one query:  o_t[d] = sum_j w[j] * v[j][d].
///
/// w     [T_k]
/// v     [T_k][d_v]
/// o_t   [d_v]        overwritten
template <class Real>
void weighted_sum(const Real* w, const Real* v, Index T_k, Index d_v, Real* o_t) {
  for (Index d = 0; d < d_v; ++d) o_t[d] = 0;
  for (Index j = 0; j < T_k; ++j)
    for (Index d = 0; d < d_v; ++d) o_t[d] += w[j] * v[j * d_v + d];
}

/// The three stages for one query; w [T_k] and o_t [d_v] are overwritten.
template <class Real>
void attention(const Real* q_t, const Real* k, const Real* v, Index T_k, Index d_k, Index d_v,
               Real* w, Real* o_t) {
  scores(q_t, k, T_k, d_k, w);
  softmax(w, T_k);
  weighted_sum(w, v, T_k, d_v, o_t);
}

}  // namespace sdpa::naive
