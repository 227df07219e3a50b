#pragma once

#include "exact/big_float.h"
#include "exact/exact_sum.h"
#include "stage/head.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// One row of the output or the weights as real numbers, to any precision that their rounding asks
/// for.
///
/// The last step of exactness: slow, and never undecided (see real_row.cpp for why it ends). Takes
/// memory for a few numbers a key.
class RealRow {
 public:
  /// Row t of q. The head must outlive this.
  RealRow(const Head& head, Index t);

  /// Output d, rounded once to the float type `dtype`.
  double output(Index d, Dtype dtype);

  /// The weight of key j, rounded likewise.
  double weight(Index j, Dtype dtype);

 private:
  /// Keys order_[begin] ... order_[end - 1], whose scores are equal as real numbers.
  struct Group {
    Index begin, end;
    Index count() const { return end - begin; }
  };
  /// exp(score of group - score of the leading group), or nothing where that is below exp(-2^28).
  struct Numerators {
    Index leading = -1;
    mpfr_prec_t precision = 0;
    std::vector<BigFloat> values;
    std::vector<bool> negligible;
    double largest_exponent =
        0;  ///< of those that are not negligible, the largest absolute argument of exp
  };
  struct Sum;

  void read_keys();
  void group_keys();
  int compare_scores(Index j, Index other) const;
  void score_difference(mpfr_ptr difference, Index j, Index other) const;
  void difference_by_products(mpfr_ptr difference, Index j, Index other) const;
  const Numerators& numerators(Index leading, mpfr_prec_t precision);
  std::optional<double> round_mean(Dtype dtype) const;
  double round_average(Dtype dtype);
  int sign_against(mpfr_srcptr boundary);
  void sum_groups();
  int group_sum(mpfr_ptr sum, std::size_t g, mpfr_srcptr subtracted) const;

  const Head& head_;
  std::vector<double> q_t_;
  std::vector<double> dot_high_, dot_low_;  // [T_k] exact dot products of row t, where dot_exact_
  std::vector<char> dot_exact_;
  std::vector<Index> order_;          // keys by descending score
  std::vector<Group> groups_;         // by descending score
  std::vector<double> v_;             // [T_k] the column that is averaged, in the order of order_
  std::vector<ExactSum> group_sums_;  // of v_, where two doubles hold them
  Numerators numerators_, from_leading_;
};

}  // namespace sdpa
