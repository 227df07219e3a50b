#pragma once

#include "attention/mask.h"
#include "report/close_look.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// How far a kernel may be from o = softmax(q k^T / sqrt(d_k)) v for one head, over the keys that
/// each query sees.
///
/// The kernel evaluates the formula by operations each of which is rounded to nearest in the
/// declared arithmetic: sums in any order that is not chosen against the data, the scale applied to
/// q or to the scores, the softmax in one pass over blocks of keys with a running maximum or in
/// several passes, the division before or after the second product.
///
/// A few rows are looked at closely (row_error.cpp has the derivation). For the others the same
/// errors are estimated from sums that attention itself gives for other values, and multiplied by
/// the largest factor that any of the close rows has over its estimate; see kernel_bound.cpp.
class KernelBound {
 public:
  /// head         is kept
  /// empty_rows   what stands in the rows of queries that see no key
  KernelBound(const Head& head, EmptyRows empty_rows, const Arithmetic& arithmetic, int threads);

  /// Which of rows first ... first + count - 1 attention has to sum for `allowed`: other values than
  /// v, of a head that lives as long as this object. They become rows at ... of the sums, which
  /// have sum_columns() columns. None if all rows are looked at closely.
  std::vector<HeadRows> rows_to_sum(Index first, Index count, Index at) const;

  Index sum_columns() const { return sums_head_ ? sums_head_->n.d_v : 0; }

  /// The distance that is allowed, for each element of rows first ... of the output, whose right
  /// values are `o` [rows][d_v]. Infinite where float64 has no room for the bound: no statement
  /// about that element.
  ///
  /// sums   (rows, sum_columns())   of these rows, by plain_sums; null if there are none to sum
  textbook::Values allowed(Index first, std::span<const double> o, const Array* sums) const;

  const CloseLook& close_look() const { return look_; }

 private:
  void prepare_columns();
  textbook::Values estimate(Index t, std::span<const double> o_t, const double* sums_t) const;
  void compare_estimates(int threads);

  const Arithmetic arithmetic_;
  CloseLook look_;
  textbook::Values mean_error_;  // [d_v]  in rows that see no key, if these hold the mean of v

  // Of the estimates, if rows are left for them.
  std::optional<Head> sums_head_;
  textbook::Values key_squares_;    // [d_k]
  double mean_key_square_ = 0;      // their weighted mean over the features
  textbook::Values centre_, unit_;  // [d_v]
  textbook::Values factor_;         // [d_v]
};

/// Plain attention of rows that see a key, in one of the precisions: (rows, d_v) of float32 or
/// float64. Rows that none of the parts gives are 0.
Array plain_sums(std::span<const HeadRows> parts, Index rows, Index d_v, Precision precision,
                 int threads);

}  // namespace sdpa
