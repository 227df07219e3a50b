#pragma once

#include "exact/near_keys.h"
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
  /// bias           at least the absolute value of every bias that matters (RowBias)
  RowBound(const kernel::ArithmeticError& arithmetic, const Head& head, const Norms& norms,
           const QueryNorms& query, bool bounded, double sum, double squares, double bias = 0);

  /// The same where the near keys of the row are known. What it says of weights holds for these.
  RowBound(const kernel::ArithmeticError& arithmetic, const Head& head, const Norms& norms,
           const NearKeys& near, bool bounded, double sum, double squares);

  /// Errors of the computed outputs o[i] of the columns columns[i] of v, to error[i]. Infinite or
  /// NaN where nothing can be said.
  void outputs(std::span<const Index> columns, const double* o, double* error) const;

  /// The relative error of the sum of the numerators; infinite where nothing can be said.
  double sum_of_numerators() const { return all_weights_ + quotient_ + underflow_; }

  /// Errors of `count` computed weights w, to error.
  void weights(Index count, const double* w, double* error) const;

 private:
  RowBound(const kernel::ArithmeticError& arithmetic, const Head& head, const Norms& norms,
           bool bounded, double sum, double squares);

  const Norms& norms_;
  double all_weights_;        // relative error of each numerator
  double partial_sums_;       // what of it comes from its score's partial sums, relative to P(k_j)
  double weights_;            // the rest of it
  double roundings_;          // of the second sum: relative error of each rounding
  double sums_;               // of the second sum besides, relative to sum_j w_j |v_j|
  double quotient_;           // relative error of the sum of numerators and the division
  double left_out_ = 0;       // weights of keys that are not near, computed and true
  double spread_;             // Euclidean norm of the row of weights
  double underflow_;          // of a weight, from numerators that underflow
  double product_underflow_;  // of an output, from products that underflow
};

/// The relative error of each numerator of a row, at most, where its maximum is subtracted.
double numerator_error(const kernel::ArithmeticError& arithmetic, const Head& head,
                       const Norms& norms, const QueryNorms& query);

/// A power of two, at least twice sum_i |q_i k_ji| for every key j of a row, or every near one.
double dot_power(const Norms& norms, double q_norm);
double dot_power(const NearKeys& near);

/// At least the absolute value of every score of a row, or every near key's, without the bias.
double score_bound(const Head& head, const Norms& norms, double q_norm);
double score_bound(const Head& head, const NearKeys& near);

/// At least the sum of the weights of all keys that are not near.
double left_out(const Head& head, const NearKeys& near);

/// What is added to the scores of a row.
struct RowBias {
  double largest = 0;   ///< absolute value of the largest one
  double relevant = 0;  ///< at least the absolute value of every one that matters
};

/// Of row t, of whose scores the absolute values are at most `scores`; no bias that it sees is NaN
/// or +inf. Nothing but zeros where there is no bias.
RowBias row_bias(const Head& head, Index t, double scores);

}  // namespace sdpa
