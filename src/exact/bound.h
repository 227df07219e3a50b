#pragma once

#include "exact/norms.h"
#include "kernel/error.h"
#include "stage/head.h"

#include <span>

namespace sdpa {

/// What one row of the kernel's results is known to be off by, at most.
class RowBound {
 public:
  /// query          the row of q
  /// bounded        whether the kernel left the maximum alone (Question::bounded)
  /// sum, squares   what the kernel's `finish` wrote for the row
  RowBound(const kernel::ArithmeticError& arithmetic, const Head& head, const Norms& norms,
           const QueryNorms& query, bool bounded, double sum, double squares);

  /// Errors of the computed outputs o[i] of the columns columns[i] of v, to error[i]. Infinite or
  /// NaN where nothing can be said.
  void outputs(std::span<const Index> columns, const double* o, double* error) const;

  /// Errors of `count` computed weights w, to error.
  void weights(Index count, const double* w, double* error) const;

 private:
  const Norms& norms_;
  double all_weights_;        // relative error of each numerator
  double partial_sums_;       // what of it comes from its score's partial sums, relative to P(k_j)
  double weights_;            // the rest of it
  double roundings_;          // of the second sum: relative error of each rounding
  double sums_;               // of the second sum besides, relative to sum_j w_j |v_j|
  double quotient_;           // relative error of the sum of numerators and the division
  double spread_;             // Euclidean norm of the row of weights
  double underflow_;          // of a weight, from numerators that underflow
  double product_underflow_;  // of an output, from products that underflow
};

/// A power of two, at least twice sum_i |q_i k_ji| for every key j of a row.
double dot_power(const Norms& norms, double q_norm);

/// At least the absolute value of every score of a row.
double score_bound(const Head& head, const Norms& norms, double q_norm);

}  // namespace sdpa
