#pragma once

#include "array/array.h"

#include <vector>

namespace sdpa {

/// Attention as a textbook has it: plain loops in float64, a row of q at a time. For the few rows
/// on which a report looks closely, and for variants that nobody else computes.
namespace textbook {

using Values = std::vector<double>;

/// All elements of an array, in C order.
Values values_of(const Array& array);

/// The columns of a matrix one after the other, [columns][rows].
Values transposed(const Array& matrix);

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

}  // namespace textbook

}  // namespace sdpa
