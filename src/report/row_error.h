#pragma once

#include "report/kernel_bound.h"
#include "report/textbook.h"

#include <vector>

namespace sdpa {

/// Keys and values of one head in float64.
struct TextbookHead {
  Index T_k, d_k, d_v;
  double scale;                   // 1 / sqrt(d_k)
  textbook::Values k_transposed;  // [d_k][T_k]
  textbook::Values v;             // [T_k][d_v]
  textbook::Values column_sizes;  // [d_v]  sum_j |v_jd|

  TextbookHead(const Array& k_array, const Array& v_array);
};

/// The bound of kernel_bounds() for one row of q at a time; row_error.cpp derives it.
class RowError {
 public:
  using Values = textbook::Values;

  /// Refers to `head` as long as it lives.
  RowError(const TextbookHead& head, const Arithmetic& arithmetic);

  /// q_t         [d_k]
  void compute(const double* q_t);

  const Values& output() const { return o_; }         ///< [d_v]  right, in float64 arithmetic
  const Values& allowed() const { return allowed_; }  ///< [d_v]  the distance that is allowed

 private:
  void score_sizes(const double* q_t);
  void sort_by_score();
  void score_errors();
  void value_sizes();
  double key_spread(const double* q_t);
  void sums_over_keys(double spread);
  void equal_errors();
  double unresolved(double term, double last, double size) const;
  double allowed_error(std::size_t d) const;

  template <class Term>
  void add_grouped(double width, Values& variance, Term x);

  const TextbookHead& head_;
  const Arithmetic arithmetic_;
  const double u_, u_w_;  // unit roundoffs of the accumulating type and of the weights

  // Of the row. Errors are in units of u_ until allowed().
  double m_ = 0;             // the largest score
  double new_maxima_ = 0;    // how often a running maximum is replaced
  double sum_bias_ = 0;      // of the sum of exponentials, relative to it
  double sum_variance_ = 0;  // the same

  // [T_k]
  Values s_;                           // scores
  Values p_;                           // scores of absolute values
  Values w_;                           // weights
  Values e_;                           // error of the logarithm of a weight
  Values rest_;                        // what the first order of its exponential leaves out
  std::vector<std::size_t> by_score_;  // keys whose weight is not zero, the largest score first

  // [d_v]
  Values o_, allowed_;
  Values a_;                // sum_j |w_j v_jd|
  Values linear_;           // errors that add up
  Values variance_;         // squares of errors that are independent
  Values weight_variance_;  // the same of stored weights, in units of u_w_
  Values shared_scale_, prefix_, largest_prefix_, last_term_, group_;
};

}  // namespace sdpa
