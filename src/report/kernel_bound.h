#pragma once

#include "array/array.h"
#include "attention/attention.h"
#include "report/row_error.h"

#include <span>
#include <vector>

namespace sdpa {

/// A row of a head that was looked at closely.
struct CloseRow {
  Index t;
  textbook::Values output;   ///< [d_v]  right, in float64 arithmetic
  textbook::Values error;    ///< [d_v]  that a kernel may have before it stores the row
  textbook::Values allowed;  ///< [d_v]  and when it has
};

/// What is known of a head closely.
struct CloseLook {
  textbook::Head head;
  std::vector<CloseRow> rows;  ///< in ascending order; all if there are few

  /// The plain arithmetic that tells the scores apart as well as a sum of weights needs it.
  Precision precision = Precision::float32;
};

/// How far an honest kernel may be from o = softmax(q k^T / sqrt(d_k)) v for one head.
///
/// A kernel is honest if it evaluates the formula by operations each of which is rounded to nearest
/// in the declared arithmetic: sums in any order that is not chosen against the data, the scale
/// applied to q or to the scores, the softmax in one pass over blocks of keys with a running
/// maximum or in several passes, the division before or after the second product.
///
/// A few rows are looked at closely (row_error.cpp has the derivation). For the others the same
/// errors are estimated from sums that attention itself gives for other values, and multiplied by
/// the largest factor that any of the close rows has over its estimate; see kernel_bound.cpp.
class KernelBound {
 public:
  /// q (T_q, d_k), k (T_k, d_k), v (T_k, d_v). The arrays are kept.
  KernelBound(const Array& q, const Array& k, const Array& v, const Arithmetic& arithmetic,
              int threads);

  /// The distance that is allowed, for each element of rows first ... of the output, whose right
  /// values are `o` [rows][d_v]. Infinite where float64 has no room for the bound: no statement
  /// about that element.
  textbook::Values allowed(Index first, std::span<const double> o) const;

  const CloseLook& close_look() const { return look_; }

 private:
  textbook::Values look_closely(const std::vector<Index>& rows);
  void prepare_columns(const textbook::Values& mean_weights);
  textbook::Values estimates(const Array& q, std::span<const double> o) const;
  void compare_estimates();

  const Array q_, k_;
  const Arithmetic arithmetic_;
  const int threads_;
  CloseLook look_;

  // Of the estimates, if rows are left for them.
  Array columns_;                   // (T_k, d_v + signs)
  textbook::Values key_squares_;    // [d_k]
  textbook::Values centre_, unit_;  // [d_v]
  textbook::Values factor_;         // [d_v]
};

}  // namespace sdpa
