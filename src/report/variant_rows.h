#pragma once

#include "report/judged_output.h"
#include "report/kernel_variant.h"
#include "report/textbook.h"

#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace sdpa {

/// Keys and values as a variant takes them.
struct VariantKeys {
  Index T_k, d_k, d_v;
  textbook::Values k_transposed;  ///< [d_k][T_k]
  textbook::Values v;             ///< [T_k][d_v]
};

/// The terms of the two sums of a row: o_d = factor * sum_j a_j v_jd / sum, sum = sum_j b_j + others.
struct RowTerms {
  std::shared_ptr<const VariantKeys> keys;
  std::vector<Index> v_row;  ///< [T_k]  where a key has its value, or empty: all at their own place
  textbook::Values s;        ///< [T_k]  scores
  textbook::Values a, b;     ///< [T_k]
  textbook::Values error;    ///< [T_k]  relative, of a_j and b_j
  double others = 0;         ///< sinks and padding
  double sum = 0;
  double count = 0;  ///< of keys that take part
  double largest = 0;

  const double* value(Index j) const {
    const Index row = v_row.empty() ? j : v_row[static_cast<std::size_t>(j)];
    return keys->v.data() + row * keys->d_v;
  }
};

/// A row that a kernel gives.
struct VariantRow {
  textbook::Values o;
  textbook::Values allowed;  ///< how far from it the kernel may be
  bool is_empty = false;     ///< it has no key: what it stores is not known
};

/// Rows of wrong kernels, in float64, as plain loops. Can be called from several threads.
///
/// What a kernel may be off by has the form of row_error.cpp, but the errors of scores add up
/// without a square root: that they are independent is not assumed of a kernel that is wrong.
class VariantRows {
 public:
  using Values = textbook::Values;

  /// Refers to `judged` as long as it lives.
  explicit VariantRows(const JudgedOutput& judged) : judged_(judged) {}

  RowTerms terms(const KernelVariant& variant, Index head, Index t) const;

  /// The first `columns` values.
  VariantRow row(const KernelVariant& variant, const RowTerms& terms, Index columns) const;
  VariantRow row(const KernelVariant& variant, Index head, Index t) const;

  const JudgedOutput& judged() const { return judged_; }

 private:
  struct Dots {
    Values sums, squares;  // of products q_ti k_ji
  };
  struct Scores;
  using KeysName = std::tuple<Index, Index, TakenOperands, double (*)(double), bool>;

  std::shared_ptr<const VariantKeys> keys_of(const KernelVariant& variant,
                                             const RowSource& from) const;
  std::shared_ptr<const Dots> dots_of(const KernelVariant& variant, const RowSource& from,
                                      const VariantKeys& keys) const;
  Scores scores(const KernelVariant& variant, const RowSource& from) const;
  std::shared_ptr<const Values> sums_over_queries(const KernelVariant& variant, Index head) const;
  void add_tile_faults(const KernelVariant& variant, const Scores& scores, RowTerms& terms) const;

  const JudgedOutput& judged_;
  mutable std::mutex mutex_;
  mutable std::map<KeysName, std::shared_ptr<const VariantKeys>> keys_;
  mutable std::map<std::pair<Index, Index>, std::shared_ptr<const Dots>> dots_;
  mutable std::map<Index, std::shared_ptr<const Values>> over_queries_;
  mutable Index keys_size_ = 0, dots_size_ = 0;
};

}  // namespace sdpa
