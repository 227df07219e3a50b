#pragma once

#include "array/view.h"

#include <vector>

/// Attention as a textbook has it: plain loops in float64, a row of q at a time. For the few rows on
/// which a report looks closely, and for variants that nobody else computes.
namespace sdpa::textbook {

using Values = std::vector<double>;

/// All elements of a matrix, row after row.
Values values_of(const MatrixView& matrix);

/// The columns of a matrix one after the other, [columns][rows].
Values transposed(const MatrixView& matrix);

/// Keys and values of one head.
struct Head {
  Index T_k, d_k, d_v;
  double scale;         ///< 1 / sqrt(d_k)
  Values k_transposed;  ///< [d_k][T_k]
  Values v;             ///< [T_k][d_v]
  Values column_sizes;  ///< [d_v]  sum_j |v_jd|

  /// k (T_k, d_k), v (T_k, d_v)
  Head(const MatrixView& k, const MatrixView& v);
};

/// s[j] = scale * sum_i q_t[i] * k[j][i]
///
/// q_t            [d_k]
/// k_transposed   [d_k][T_k]
/// s              [T_k]   overwritten
void scores(const double* q_t, const Values& k_transposed, double scale, Values& s);

/// w[j] = exp(s[j]) / sum_j exp(s[j]). Returns the largest score; it is a NaN if one of them is.
double softmax(const Values& s, Values& w);

/// o_t[d] = sum_j w[j] * v[j][d]
///
/// v     [at least as many keys as w][d_v]
/// o_t   [d_v]   overwritten
void weighted_sum(const Values& w, const Values& v, Values& o_t);

/// sum_j w[j] * (x[j] - mean)^2 for weights that sum to one, mean = sum_j w[j] * x[j].
double variance(const Values& w, const double* x);

}  // namespace sdpa::textbook
