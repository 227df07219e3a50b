#include "exact/real_average.h"

#include "exact/big_sum.h"
#include "exact/common_mean.h"
#include "exact/decide.h"

#include <algorithm>
#include <optional>

namespace sdpa {

// Why this ends. With keys grouped by equal scores x_g, the average is o = sum_g exp(x_g) V_g /
// sum_g exp(x_g) n_g, where V_g is the sum of the group's values and n_g the number of its keys. o
// is enclosed in an interval that shrinks as the precision doubles; if both of its ends round to
// the same number, that is the result. An interval that is short enough holds at most one boundary
// m between two results, and o lies above it, on it or below it as
//
//    F(m) = sum_g exp(x_g) c_g,   c_g = V_g - n_g m,
//
// is positive, zero or negative. The x_g are distinct algebraic numbers (rational numbers times
// 1/sqrt(d_k), plus a bias), and the c_g are rational, so by the theorem of Lindemann and Weierstrass (A. Baker,
// "Transcendental Number Theory", theorem 1.4) F(m) is zero only if every c_g is. That is a
// question about sums of products of floating-point numbers, answered exactly; then m is the result
// and ties go to even. Otherwise F(m) is not zero, and some finite precision shows its sign.
//
// With a cap the x_g are no algebraic numbers, and all this only follows from Schanuel's conjecture. They
// are distinct all the same (real_scores.cpp), so that a tie of equal groups is found as ever, and no
// input is known that kLargestCappedPrecision does not decide but some of scores far beyond the cap.
//
// Groups with c_g = 0 are left out of F, and the first that remains is made the leading one, with
// exp(0) before it. So whatever follows it is compared with a number that is not small, and
// exp(-10^30) can break a tie without ever being computed: what is negligible only widens the bound.
// In the same way the numerator of o is led by the first V_g that is not zero.

namespace {

constexpr mpfr_prec_t kFirstPrecision = 128;

/// Holds every V_g - n_g m: from 2^-1075 to 2^1024 times the number of keys.
constexpr mpfr_prec_t kValuePrecision = 2240;

/// Numerators more than exp(this) below the first only make zeros of values below 2^1024.
constexpr double kLargestGap = 4000;

/// The same for weights: exp(-746) is less than half of the smallest number of float64.
constexpr double kLargestWeightGap = 746;

BigFloat big(double x) {
  BigFloat number(53);
  mpfr_set_d(number, x, MPFR_RNDN);
  return number;
}

}  // namespace

double RealAverage::average(std::span<const double> values) {
  if (std::ranges::all_of(values, [&](double value) { return value == values[0]; }))
    return round_sum(values[0], 0, dtype_);
  if (const std::optional<double> mean =
          common_mean(values, scores_.order(), scores_.groups(), dtype_))
    return *mean;
  return round_average(sum_groups(values));
}

double RealAverage::weight(Index position) {
  const std::size_t group = scores_.group_of(position);
  const auto [at, is_new] = weights_.try_emplace(group, 0.0);
  if (is_new && scores_.least_gap(0, group) < kLargestWeightGap) {
    std::vector<Value> values;
    values.push_back({group, big(1)});
    at->second = round_average(values);
  }
  return at->second;
}

/// V_g of the groups where it is not zero.
std::vector<RealAverage::Value> RealAverage::sum_groups(std::span<const double> values) const {
  std::vector<Value> sums;
  for (std::size_t g = 0; g < scores_.groups().size(); ++g) {
    const KeyGroup& group = scores_.groups()[g];
    const std::span<const Index> positions = scores_.order().subspan(
        static_cast<std::size_t>(group.begin), static_cast<std::size_t>(group.count()));
    const auto value = [&](Index position) { return values[static_cast<std::size_t>(position)]; };
    if (positions.size() == 1) {
      if (const double x = value(positions[0]); x != 0) sums.push_back({g, big(x)});
      continue;
    }
    BigSum sum;
    for (Index position : positions) sum.add(value(position));
    BigFloat total = sum.value();
    if (!mpfr_zero_p(static_cast<mpfr_srcptr>(total))) sums.push_back({g, std::move(total)});
  }
  return sums;
}

double RealAverage::round_average(const std::vector<Value>& values) {
  if (values.empty()) return 0;
  if (scores_.groups().size() == 1)
    return round_mean(values[0].sum, scores_.groups()[0].count(), dtype_);
  const std::size_t leading = values[0].group;
  for (mpfr_prec_t precision = kFirstPrecision;; precision *= 2) {
    const std::optional<FirstRatio> ratio =
        ratio_to_first(scores_, leading, precision, kLargestGap);
    if (!ratio) return 0;
    const Sum V = sum_values(values, precision);
    const Sum& L = denominator(precision);

    // o = V R / L, where R is the ratio of the leading numerator to the first. Its error is at most
    // dV R / L + |o| (dR / R + dL / L), and what its two roundings add. Doubled for the products of
    // errors.
    BigFloat factor(precision), o(precision), error(64), relative(64);
    mpfr_div(factor, ratio->value, L.value, MPFR_RNDN);
    mpfr_mul(o, V.value, factor, MPFR_RNDN);
    mpfr_mul(error, V.error, factor, MPFR_RNDU);
    mpfr_add(relative, ratio->error, L.error, MPFR_RNDU);
    mpfr_add(relative, relative, unit(precision), MPFR_RNDU);
    BigFloat size(64);
    mpfr_abs(size, o, MPFR_RNDU);
    mpfr_mul(relative, relative, size, MPFR_RNDU);
    mpfr_add(error, error, relative, MPFR_RNDU);
    mpfr_mul_2ui(error, error, 1, MPFR_RNDU);

    BigFloat below(precision), above(precision);
    mpfr_sub(below, o, error, MPFR_RNDD);
    mpfr_add(above, o, error, MPFR_RNDU);
    const double lower = round_real(below, dtype_), upper = round_real(above, dtype_);
    if (lower == upper) return lower;
    if (next_above(lower, dtype_) != upper) continue;
    BigFloat boundary(64);
    set_boundary_above(boundary, lower, dtype_);
    const int sign = sign_against(boundary, values);
    return sign > 0 ? upper : sign < 0 ? lower : round_real(boundary, dtype_);
  }
}

/// sum_g V_g exp(x_g), relative to the first of these groups.
RealAverage::Sum RealAverage::sum_values(const std::vector<Value>& values, mpfr_prec_t precision) {
  Sum result{BigFloat(precision), BigFloat(64)};
  if (values.size() == 1) {
    mpfr_set_ui(result.error, mpfr_set(result.value, values[0].sum, MPFR_RNDN) != 0, MPFR_RNDN);
    if (mpfr_zero_p(static_cast<mpfr_srcptr>(result.error))) return result;
  }
  GroupSum sum(numerators(values[0].group, precision));
  for (const Value& value : values) sum.add(value.group, value.sum);
  mpfr_set(result.value, sum.value(), MPFR_RNDN);
  return {std::move(result.value), sum.error()};
}

/// Sign of F(boundary).
int RealAverage::sign_against(mpfr_srcptr boundary, const std::vector<Value>& values) {
  for (mpfr_prec_t precision = kFirstPrecision;; precision *= 2) {
    std::optional<GroupSum> sum;
    BigFloat c(std::min(precision, kValuePrecision)), share(128);
    auto value = values.begin();
    for (std::size_t g = 0; g < scores_.groups().size(); ++g) {
      const auto keys = static_cast<unsigned long>(scores_.groups()[g].count());
      mpfr_mul_ui(share, boundary, keys, MPFR_RNDN);
      if (value != values.end() && value->group == g)
        mpfr_sub(c, (value++)->sum, share, MPFR_RNDN);
      else
        mpfr_neg(c, share, MPFR_RNDN);
      if (mpfr_zero_p(static_cast<mpfr_srcptr>(c))) continue;
      if (!sum) sum.emplace(numerators(g, precision));
      sum->add(g, c);
    }
    if (!sum) return 0;
    if (mpfr_cmpabs(sum->value(), sum->error()) > 0) return mpfr_sgn(sum->value());
    if (!scores_.are_algebraic() && 2 * precision > kLargestCappedPrecision) throw_undecided();
  }
}

Numerators& RealAverage::numerators(std::size_t leading, mpfr_prec_t precision) {
  return numerators_.try_emplace({leading, precision}, scores_, leading, precision).first->second;
}

const RealAverage::Sum& RealAverage::denominator(mpfr_prec_t precision) {
  if (const auto known = denominators_.find(precision); known != denominators_.end())
    return known->second;
  GroupSum sum(numerators(0, precision));
  BigFloat count(64);
  for (std::size_t g = 0; g < scores_.groups().size(); ++g) {
    mpfr_set_ui(count, static_cast<unsigned long>(scores_.groups()[g].count()), MPFR_RNDN);
    sum.add(g, count);
  }
  Sum result{BigFloat(precision), sum.error()};
  mpfr_set(result.value, sum.value(), MPFR_RNDN);
  mpfr_div(result.error, result.error, result.value, MPFR_RNDU);
  return denominators_.emplace(precision, std::move(result)).first->second;
}

}  // namespace sdpa
