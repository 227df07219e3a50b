#pragma once

#include "report/score_error.h"

namespace sdpa {

/// How far a row of a kernel's output may be from the right one, before it is stored in the output's
/// type. See kernel_bound.h for what a kernel may do; row_error.cpp has the derivation.
class RowError {
 public:
  using Values = textbook::Values;

  explicit RowError(const Arithmetic& arithmetic);

  /// Of the query q_t [d_k], which sees these keys, with this bias, [T_k] or empty.
  void compute(const textbook::Keys& keys, const EqualKeys& equal, const double* q_t,
               const Values& bias);

  const Values& weights() const { return of_scores_.w; }  ///< [T_k]
  const Values& output() const { return o_; }             ///< [d_v]  right, in float64 arithmetic
  const Values& error() const { return error_; }  ///< [d_v]  infinite where nothing can be said

 private:
  void sizes(const textbook::Keys& keys);
  double key_spread(const textbook::Keys& keys, const double* q_t) const;
  void sums_over_keys(const textbook::Keys& keys, const EqualKeys& equal_keys);
  double error(const textbook::Keys& keys, std::size_t d, double spread) const;

  const Arithmetic arithmetic_;
  const double u_, u_w_;  // unit roundoffs of the sums, and of the weights in the second product

  // Of the row, [d_v]. Errors are in units of u_ until error().
  ScoreErrors of_scores_;
  ScoreGroups groups_;
  Values o_, error_;
  Values a_;                // sum_j |w_j v_jd|
  Values q_;                // sum_j (w_j v_jd)^2
  Values spread_;           // sum_j w_j (v_jd - o_d)^2
  Values linear_;           // errors that add up
  Values variance_;         // squares of errors that are independent
  Values weight_variance_;  // the same of stored weights, in units of u_w_
  Values shared_scale_, prefix_, largest_prefix_, sum_, lanes_, last_;
  Values differences_, smallest_;
};

}  // namespace sdpa
