#pragma once

#include "exact/big_float.h"
#include "exact/real_scores.h"

#include <optional>
#include <vector>

namespace sdpa {

/// Numerators of the weights of one row, relative to that of a leading group of keys, to one
/// precision: exp(score of group g - score of the leading group). Each is computed when it is first
/// asked for.
class Numerators {
 public:
  /// The scores must outlive this.
  Numerators(RealScores& scores, std::size_t leading, mpfr_prec_t precision);

  mpfr_prec_t precision() const { return precision_; }

  /// That of group g, which does not come before the leading one; null where it is less than
  /// negligible().
  const BigFloat* of(std::size_t g);

  /// 2^-(precision + 64)
  BigFloat negligible() const;

  /// The relative error of each one that is not negligible.
  BigFloat error() const;

 private:
  RealScores& scores_;
  std::size_t leading_;
  mpfr_prec_t precision_;
  double largest_gap_;
  std::vector<bool> known_;
  std::vector<std::optional<BigFloat>> values_;
};

/// 2^(1 - precision): no operation's relative error is larger.
BigFloat unit(mpfr_prec_t precision);

/// exp(score of group g - score of group 0), which is off by at most `error` of itself. Nothing if
/// the scores are more than `largest_gap` apart.
struct FirstRatio {
  BigFloat value, error;
};
std::optional<FirstRatio> ratio_to_first(RealScores& scores, std::size_t g, mpfr_prec_t precision,
                                         double largest_gap);

/// A sum over groups, sum_g numerator_g c_g, and how far it may be from the real number.
class GroupSum {
 public:
  explicit GroupSum(Numerators& numerators);

  /// c is off by one rounding, at most.
  void add(std::size_t g, mpfr_srcptr c);

  mpfr_srcptr value() const { return value_; }

  /// At most how far value() is off.
  BigFloat error() const;

 private:
  Numerators& numerators_;
  BigFloat value_, product_;
  BigFloat size_{64}, left_out_{64};  // sums of |numerator_g c_g|, and of |c_g| where negligible
  double terms_ = 0;
};

}  // namespace sdpa
