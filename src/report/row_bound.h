#pragma once

#include "report/bound.h"

#include <vector>

namespace sdpa {

/// Keys and values of one head in float64.
struct KeysAndValues {
  Index T_k, d_k, d_v;
  double scale;                      // 1 / sqrt(d_k)
  std::vector<double> k;             // [T_k][d_k]
  std::vector<double> v;             // [T_k][d_v]
  std::vector<double> column_sizes;  // [d_v]  sum_j |v_jd|

  KeysAndValues(const Array& k_array, const Array& v_array);
};

/// The bound of error_bounds() for one row of q at a time; row_bound.cpp derives it.
class RowBound {
 public:
  /// Refers to `head` as long as it lives.
  RowBound(const KeysAndValues& head, const Arithmetic& arithmetic);

  /// q_t         [d_k]
  /// o_t         [d_v]   overwritten with the right values, in float64 arithmetic
  /// allowed_t   [d_v]   overwritten with the distance from them that is allowed
  void compute(const double* q_t, double* o_t, double* allowed_t);

 private:
  void scores(const double* q_t);
  void softmax();
  void score_errors();
  void weighted_sums(double* o_t);
  double key_spread(const double* q_t);
  void sums_over_keys(const double* o_t, double spread);
  void equal_errors(const double* o_t);
  double unresolved(double term, double last, double size) const;
  double allowed(Index d, double o_td) const;

  template <class Term>
  void add_grouped(double width, std::vector<double>& variance, Term x);

  const KeysAndValues& head_;
  const Arithmetic arithmetic_;
  const double u_, u_w_;  // unit roundoffs of the accumulating type and of the weights

  // Of the row. Errors are in units of u_ until allowed().
  double m_ = 0;             // the largest score
  double new_maxima_ = 0;    // how often a running maximum is replaced
  double sum_bias_ = 0;      // of the sum of exponentials, relative to it
  double sum_variance_ = 0;  // the same

  // [T_k]
  std::vector<double> s_;        // scores
  std::vector<double> p_;        // scores of absolute values
  std::vector<double> w_;        // weights
  std::vector<double> e_;        // error of the logarithm of a weight
  std::vector<double> rest_;     // what the first order of its exponential leaves out
  std::vector<Index> by_score_;  // keys whose weight is not zero, the largest score first

  // [d_k]
  std::vector<double> key_mean_, key_mean_square_;

  // [d_v]
  std::vector<double> a_;                // sum_j |w_j v_jd|
  std::vector<double> linear_;           // errors that add up
  std::vector<double> variance_;         // squares of errors that are independent
  std::vector<double> weight_variance_;  // the same of stored weights, in units of u_w_
  std::vector<double> shared_scale_, prefix_, largest_prefix_, last_term_, group_;
};

}  // namespace sdpa
