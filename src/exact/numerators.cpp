#include "exact/numerators.h"

#include <algorithm>

namespace sdpa {

namespace {

/// Numerators below 2^-(precision + kGuard) are left out.
constexpr mpfr_prec_t kGuard = 64;

/// More than ln 2.
constexpr double kLn2 = 0.69315;

/// exp(x) in place, where |x| < 2^-size, by its series. Each term needs fewer bits than the one
/// before it, and x often has few. Three roundings a term and the end of the series are below 2^-20
/// of the last bit for up to 1000 terms, so only the last rounding counts.
void exp_by_series(mpfr_ptr x, mpfr_prec_t size) {
  const mpfr_prec_t precision = mpfr_get_prec(x) + 32;
  BigFloat factor(std::max<mpfr_prec_t>(mpfr_min_prec(x), MPFR_PREC_MIN));
  mpfr_set(factor, x, MPFR_RNDN);
  BigFloat sum(precision), term(precision);
  mpfr_set_ui(sum, 1, MPFR_RNDN);
  mpfr_set_ui(term, 1, MPFR_RNDN);
  for (mpfr_prec_t n = 1, bits = precision - size; bits >= MPFR_PREC_MIN; ++n, bits -= size) {
    mpfr_prec_round(term, bits, MPFR_RNDN);
    mpfr_mul(term, term, factor, MPFR_RNDN);
    mpfr_div_ui(term, term, static_cast<unsigned long>(n), MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_set(x, sum, MPFR_RNDN);
}

/// exp of a difference x of scores, in place. x has three roundings behind it, each of at most half
/// a unit of x, and exp has one.
void exp_in_place(mpfr_ptr x) {
  constexpr mpfr_prec_t kTerms = 128, kWorthIt = 1024;
  const mpfr_prec_t precision = mpfr_get_prec(x);
  const mpfr_prec_t size = mpfr_zero_p(x) ? 0 : -mpfr_get_exp(x);
  if (precision >= kWorthIt && size * kTerms >= precision)
    exp_by_series(x, size);
  else
    mpfr_exp(x, x, MPFR_RNDN);
}
double units_of_exp(double largest_argument) {
  return 2 * largest_argument + 1;
}

}  // namespace

BigFloat unit(mpfr_prec_t precision) {
  BigFloat unit(64);
  mpfr_set_ui_2exp(unit, 1, 1 - precision, MPFR_RNDU);
  return unit;
}

Numerators::Numerators(RealScores& scores, std::size_t leading, mpfr_prec_t precision)
    : scores_(scores),
      leading_(leading),
      precision_(precision),
      largest_gap_(kLn2 * static_cast<double>(precision + kGuard)),
      known_(scores.groups().size()),
      values_(scores.groups().size()) {}

const BigFloat* Numerators::of(std::size_t g) {
  std::optional<BigFloat>& value = values_[g];
  if (!known_[g]) {
    known_[g] = true;
    if (scores_.least_gap(leading_, g) < largest_gap_) {
      BigFloat x(precision_);
      scores_.difference(x, leading_, g);
      if (mpfr_cmp_d(x, -largest_gap_) > 0) {
        exp_in_place(x);
        value = std::move(x);
      }
    }
  }
  return value ? &*value : nullptr;
}

BigFloat Numerators::negligible() const {
  BigFloat bound(64);
  mpfr_set_ui_2exp(bound, 1, -(precision_ + kGuard), MPFR_RNDU);
  return bound;
}

BigFloat Numerators::error() const {
  BigFloat error = unit(precision_);
  mpfr_mul_d(error, error, units_of_exp(largest_gap_), MPFR_RNDU);
  return error;
}

std::optional<FirstRatio> ratio_to_first(RealScores& scores, std::size_t g, mpfr_prec_t precision,
                                         double largest_gap) {
  if (scores.least_gap(0, g) > largest_gap) return std::nullopt;
  FirstRatio ratio{BigFloat(precision), unit(precision)};
  scores.difference(ratio.value, 0, g);
  const double gap = -mpfr_get_d(ratio.value, MPFR_RNDD);
  if (gap > largest_gap) return std::nullopt;
  exp_in_place(ratio.value);
  mpfr_mul_d(ratio.error, ratio.error, units_of_exp(gap), MPFR_RNDU);
  return ratio;
}

GroupSum::GroupSum(Numerators& numerators)
    : numerators_(numerators), value_(numerators.precision()), product_(numerators.precision()) {
  for (BigFloat* sum : {&value_, &size_, &left_out_}) mpfr_set_ui(*sum, 0, MPFR_RNDN);
}

void GroupSum::add(std::size_t g, mpfr_srcptr c) {
  const BigFloat* numerator = numerators_.of(g);
  if (numerator == nullptr) {
    BigFloat size(64);
    mpfr_abs(size, c, MPFR_RNDU);
    mpfr_add(left_out_, left_out_, size, MPFR_RNDU);
    return;
  }
  mpfr_mul(product_, *numerator, c, MPFR_RNDN);
  mpfr_add(value_, value_, product_, MPFR_RNDN);
  mpfr_abs(product_, product_, MPFR_RNDN);
  mpfr_add(size_, size_, product_, MPFR_RNDU);
  ++terms_;
}

/// Each term is off by its numerator's error and two roundings, c's and the product's, and then
/// takes part in at most as many additions as there are terms. Doubled for the products of errors.
BigFloat GroupSum::error() const {
  BigFloat error = unit(numerators_.precision());
  mpfr_mul_d(error, error, terms_ + 1, MPFR_RNDU);
  mpfr_add(error, error, numerators_.error(), MPFR_RNDU);
  mpfr_mul(error, error, size_, MPFR_RNDU);
  mpfr_mul_2ui(error, error, 1, MPFR_RNDU);
  BigFloat left_out = numerators_.negligible();
  mpfr_mul(left_out, left_out, left_out_, MPFR_RNDU);
  mpfr_add(error, error, left_out, MPFR_RNDU);
  return error;
}

}  // namespace sdpa
