#pragma once

#include "array/dtype.h"
#include "report/equal_keys.h"
#include "report/textbook.h"

namespace sdpa {

/// The arithmetic that a kernel declares.
struct Arithmetic {
  Dtype accumulate;  ///< of scores, exponentials and sums
  Dtype weights;     ///< in which the weights enter the second product
  Dtype output;      ///< of the result
};

/// How far a row of a kernel's output may be from the right one, before it is stored in the output's
/// type. See kernel_bound.h for what a kernel may do; row_error.cpp has the derivation.
class RowError {
 public:
  using Values = textbook::Values;

  /// Refers to both as long as it lives.
  RowError(const textbook::Head& head, const EqualKeys& equal, const Arithmetic& arithmetic);

  void compute(const double* q_t);

  const Values& weights() const { return w_; }    ///< [T_k]
  const Values& output() const { return o_; }     ///< [d_v]  right, in float64 arithmetic
  const Values& error() const { return error_; }  ///< [d_v]  infinite where nothing can be said

 private:
  void scores(const double* q_t);
  void score_errors();
  void sizes();
  double key_spread(const double* q_t) const;
  void errors_of_sum();
  void sums_over_keys();
  double error(std::size_t d, double spread) const;

  const textbook::Head& head_;
  const EqualKeys& equal_;
  const Arithmetic arithmetic_;
  const double u_, u_w_;  // unit roundoffs of the accumulating type and of the weights

  // Of the row. Errors are in units of u_ until error().
  double m_ = 0;             // the largest score
  double new_maxima_ = 0;    // how often a running maximum is replaced
  double sum_bias_ = 0;      // of the sum of exponentials, relative to it
  double sum_variance_ = 0;  // the same

  // [T_k]
  Values s_;        // scores
  Values squares_;  // sum of squared products of a score
  Values partial_;  // sum of squared partial sums of a score
  Values w_;        // weights
  Values e_;        // error of the logarithm of a weight
  Values rest_;     // what the first order of its exponential leaves out

  ScoreGroups groups_;

  // [d_v]
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
