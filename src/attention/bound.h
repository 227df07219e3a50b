#pragma once

#include "attention/head.h"

namespace sdpa {

/// How far the kernel's rounding may go in one of its arithmetics; see bound.cpp for the
/// derivations.
struct ArithmeticError;
extern const ArithmeticError kFloat64Error;
extern const ArithmeticError kDoubleDoubleError;

/// What one row of the kernel's results is known to be off by, at most.
class RowBound {
 public:
  /// q_norm         at least the norm of the row of q
  /// bounded        whether the kernel left the maximum alone (Question::bounded)
  /// sum, squares   what the kernel's `finish` wrote for the row
  RowBound(const ArithmeticError& arithmetic, const Head& head, double q_norm, bool bounded,
           double sum, double squares);

  /// Error of output d whose computed value is o. Infinite or NaN if nothing can be said.
  double output(Index d, double o) const;

  /// Error of a weight whose computed value is w.
  double weight(double w) const;

  /// The errors of a whole row of outputs o [d_v], to error [d_v].
  void outputs(const double* o, double* error) const;

 private:
  const Head& head_;
  double weights_;    // relative error of each numerator
  double sums_;       // relative error of the second sum, to sum_j w_j |v_j|
  double quotient_;   // relative error of the sum of numerators and the division
  double spread_;     // Euclidean norm of the row of weights
  double underflow_;  // absolute error of each output per largest value, from numerators that
                      // underflow
  double product_underflow_;  // absolute error of each output from products that underflow
};

/// At least the absolute value of every score of a row.
double score_bound(const Head& head, double q_norm);

}  // namespace sdpa
