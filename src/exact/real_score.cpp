#include "exact/real_score.h"

#include "exact/big_float.h"
#include "exact/big_sum.h"
#include "exact/decide.h"
#include "exact/exact_sum.h"

#include <cmath>
#include <optional>

namespace sdpa {

// The score is f x / sqrt(n) + b, x being the dot product, f the factor and n the root of the scale. Where
// n is the square of an integer r, that is (f x + r b) / r, a quotient of numbers that are had exactly. Else
// it is irrational unless x is 0, so that it lies on no boundary of rounding, and more digits decide.

namespace {

/// Digits that hold f x + r b exactly: a product of three doubles, summed over d_k, and one of two,
/// are multiples of 2^(-3 * 1074) below 2^(3 * 1024 + 60).
constexpr mpfr_prec_t kExact = 6500;

/// In plain float64; nothing where that tells too little.
std::optional<double> round_by_double(const Head& head, const double* q_t, const double* k_j,
                                      double bias, Dtype dtype) {
  // u is 2^-53. A product takes part in at most d_k / 4 + 6 roundings: its own, those of its sum of four,
  // and of joining these (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2). Of the
  // scale only the high part is taken, within u, and the product with it is rounded once; the last sum is
  // rounded by u of both terms. A product that underflows loses less than 2^-1074.
  constexpr Index kSums = 4;
  double sums[kSums] = {}, sizes[kSums] = {};
  const auto take = [&](Index s, Index i) {
    const double product = q_t[i] * k_j[i];
    sums[s] += product;
    sizes[s] += std::fabs(product);
  };
  Index i = 0;
  for (; i + kSums <= head.n.d_k; i += kSums)
    for (Index s = 0; s < kSums; ++s) take(s, i + s);
  for (; i < head.n.d_k; ++i) take(0, i);
  const double c = head.score_scale_high;
  const double scaled = ((sums[0] + sums[1]) + (sums[2] + sums[3])) * c;
  const double size = ((sizes[0] + sizes[1]) + (sizes[2] + sizes[3])) * c;
  const auto d_k = static_cast<double>(head.n.d_k);
  const double score = scaled + bias;
  const double error =
      (d_k / 4 + 10) * 0x1.01p-53 * size + 0x1p-52 * std::fabs(bias) + (d_k * c + 1) * 0x1p-1073;
  double rounded;
  if (!head.is_scale_moderate() || decide(&score, nullptr, &error, 1, dtype, &rounded) != 0)
    return std::nullopt;
  return rounded;
}

/// In two doubles; nothing where these tell too little.
std::optional<double> round_by_doubles(const Head& head, const ExactSum& dot, double bias,
                                       Dtype dtype) {
  // u is 2^-53. c and the dot product are had to 2^-102 and `error`; their product of two doubles
  // each leaves out that of the low parts, u^2 of it, and rounds the low part three times, 2u^2 each;
  // the sum with the bias rounds once more what is at most 3u of both terms: below 16u^2 of the product
  // and 4u^2 of the bias, and 2^-1060 where something underflows.
  const double c = head.score_scale_high, c_low = head.score_scale_low;
  const double product = dot.high * c;
  const double product_low = std::fma(dot.high, c, -product) + (dot.high * c_low + dot.low * c);
  const double sum = product + bias;
  const double part = sum - product;
  double low = (product - (sum - part)) + (bias - part) + product_low;
  const double error = dot.error * c * 1.125 + 0x1p-101 * std::fabs(product) +
                       0x1p-103 * std::fabs(bias) + 0x1p-1060;
  double high = sum + low;
  low -= high - sum;
  double rounded;
  if (!head.is_scale_moderate() || decide(&high, &low, &error, 1, dtype, &rounded) != 0)
    return std::nullopt;
  return rounded;
}

std::optional<unsigned long> integer_root(Index n) {
  const auto root = static_cast<unsigned long>(std::lround(std::sqrt(static_cast<double>(n))));
  if (root * root != static_cast<unsigned long>(n)) return std::nullopt;
  return root;
}

/// numerator / root rounded once, with the side of a boundary that it lies on kept in mind.
double round_quotient(const BigFloat& numerator, unsigned long root, Dtype dtype) {
  constexpr mpfr_prec_t kPrecision = 64;
  BigFloat quotient(kPrecision);
  if (mpfr_div_ui(quotient, numerator, root, MPFR_RNDZ) != 0) {
    mpfr_prec_round(quotient, kPrecision + 1, MPFR_RNDN);
    if (mpfr_sgn(static_cast<mpfr_srcptr>(quotient)) > 0)
      mpfr_nextabove(quotient);
    else
      mpfr_nextbelow(quotient);
  }
  return round_real(quotient, dtype);
}

}  // namespace

namespace {

/// C tanh(c x / C) + b. If x is not 0, tanh is transcendental, so the score lies on no boundary of
/// rounding and is never C + b: where tanh is too close to 1 to tell, that side of C + b decides,
/// between which and it there is no boundary that has fewer digits than kExact.
double round_capped(const Head& head, const BigFloat& dot, double bias, Dtype dtype) {
  const int sign = mpfr_sgn(static_cast<mpfr_srcptr>(dot));
  if (sign == 0) return round_sum(bias, 0, dtype);
  for (mpfr_prec_t precision = 256;; precision *= 2) {
    BigFloat x(precision + 64), below(precision), above(precision);
    mpfr_set_ui(x, static_cast<unsigned long>(head.scale.root), MPFR_RNDN);
    mpfr_rec_sqrt(x, x, MPFR_RNDN);
    mpfr_mul_d(x, x, head.scale.factor, MPFR_RNDN);
    mpfr_mul(x, x, dot, MPFR_RNDN);
    mpfr_div_d(x, x, head.softcap, MPFR_RNDN);
    mpfr_tanh(x, x, MPFR_RNDN);
    // Rounded to the fewer digits it is off by less than one of the last.
    mpfr_set(below, x, MPFR_RNDN);
    mpfr_set(above, x, MPFR_RNDN);
    mpfr_nextbelow(below);
    mpfr_nextabove(above);
    const bool is_one = mpfr_cmp_si(static_cast<mpfr_srcptr>(x), sign) == 0;
    if (is_one) mpfr_set_si(sign > 0 ? above : below, sign, MPFR_RNDN);
    mpfr_mul_d(below, below, head.softcap, MPFR_RNDD);
    mpfr_mul_d(above, above, head.softcap, MPFR_RNDU);
    mpfr_add_d(below, below, bias, MPFR_RNDD);
    mpfr_add_d(above, above, bias, MPFR_RNDU);
    const double lower = round_real(below, dtype), upper = round_real(above, dtype);
    if (lower == upper) return lower;
    if (is_one && precision > kExact) return sign > 0 ? lower : upper;
  }
}

}  // namespace

double round_score(const Head& head, const double* q_t, const double* k_j, double bias,
                   Dtype dtype) {
  if (head.has_softcap()) {
    free_reals_with_thread();
    return round_capped(head, big_dot(q_t, k_j, head.n.d_k), bias, dtype);
  }
  if (dtype != Dtype::float64)
    if (const std::optional<double> rounded = round_by_double(head, q_t, k_j, bias, dtype))
      return *rounded;
  const ExactSum dot = exact_dot(q_t, k_j, head.n.d_k);
  if (const std::optional<double> rounded = round_by_doubles(head, dot, bias, dtype))
    return *rounded;

  free_reals_with_thread();
  BigFloat x(kExact);
  mpfr_mul_d(x, big_dot(q_t, k_j, head.n.d_k), head.scale.factor, MPFR_RNDN);
  if (const auto root = integer_root(head.scale.root)) {
    BigFloat scaled_bias(kExact);
    mpfr_set_d(scaled_bias, bias, MPFR_RNDN);
    mpfr_mul_ui(scaled_bias, scaled_bias, *root, MPFR_RNDN);
    mpfr_add(x, x, scaled_bias, MPFR_RNDN);
    return round_quotient(x, *root, dtype);
  }
  if (mpfr_zero_p(static_cast<mpfr_srcptr>(x)) != 0) return round_sum(bias, 0, dtype);
  for (mpfr_prec_t precision = 256;; precision *= 2) {
    BigFloat below(precision), above(precision);
    mpfr_set_ui(below, static_cast<unsigned long>(head.scale.root), MPFR_RNDD);
    mpfr_rec_sqrt(below, below, MPFR_RNDD);
    mpfr_set(above, below, MPFR_RNDN);
    mpfr_nextabove(above);
    if (mpfr_sgn(static_cast<mpfr_srcptr>(x)) < 0) mpfr_swap(below, above);
    mpfr_mul(below, below, x, MPFR_RNDD);
    mpfr_mul(above, above, x, MPFR_RNDU);
    mpfr_add_d(below, below, bias, MPFR_RNDD);
    mpfr_add_d(above, above, bias, MPFR_RNDU);
    const double lower = round_real(below, dtype), upper = round_real(above, dtype);
    if (lower == upper) return lower;
  }
}

}  // namespace sdpa
