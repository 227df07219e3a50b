#pragma once

#include "exact/big_float.h"
#include "exact/numerators.h"
#include "exact/real_scores.h"

#include <map>
#include <span>
#include <utility>
#include <vector>

namespace sdpa {

/// Weights of one row and averages with them as real numbers, to any precision that their rounding
/// asks for.
///
/// The last step of exactness: slow, and never undecided (see real_average.cpp for why it ends).
class RealAverage {
 public:
  /// Results are rounded to the float type `dtype`. The scores must outlive this.
  RealAverage(RealScores& scores, Dtype dtype) : scores_(scores), dtype_(dtype) {}

  /// The average of values [keys], in the order of the keys that the scores were made of, rounded
  /// once.
  double average(std::span<const double> values);

  /// The weight of the key at this position, rounded likewise.
  double weight(Index position);

 private:
  /// The sum of the values of a group, exactly.
  struct Value {
    std::size_t group;
    BigFloat sum;
  };
  struct Sum {
    BigFloat value, error;
  };

  std::vector<Value> sum_groups(std::span<const double> values) const;
  double round_average(const std::vector<Value>& values);
  int sign_against(mpfr_srcptr boundary, const std::vector<Value>& values);
  Numerators& numerators(std::size_t leading, mpfr_prec_t precision);
  Sum sum_values(const std::vector<Value>& values, mpfr_prec_t precision);
  /// sum_g n_g exp(x_g - x_0), and its relative error.
  const Sum& denominator(mpfr_prec_t precision);

  RealScores& scores_;
  const Dtype dtype_;
  std::map<std::pair<std::size_t, mpfr_prec_t>, Numerators> numerators_;
  std::map<mpfr_prec_t, Sum> denominators_;
  std::map<std::size_t, double> weights_;  // of groups
};

}  // namespace sdpa
