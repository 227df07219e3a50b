#include "exact/big_sum.h"

#include <gmp.h>
#include <cmath>
#include <iterator>

namespace sdpa {

// The sum is kept in digits of 32 bits that are added to without carrying: each takes the bits of a
// term that fall on it, with the term's sign. (R. Neal, "Fast exact summation using small and large
// superaccumulators", 2015.) A term adds less than 2^36 to a digit: three parts, each less than
// 2^34. So carrying after 2^26 terms keeps digits below 2^63.

namespace {

/// x = mantissa * 2^exponent, mantissa being an integer of up to 53 bits.
struct Parts {
  std::uint64_t mantissa;
  int exponent;
};

Parts parts_of(double x) {
  int exponent;
  const double fraction = std::frexp(std::fabs(x), &exponent);
  return {static_cast<std::uint64_t>(fraction * 0x1p53), exponent - 53};
}

}  // namespace

/// Adds bits * 2^position, position counted from digit 0.
void BigSum::add_bits(std::uint64_t bits, int position, bool negative) {
  const auto at = static_cast<std::size_t>(position / kDigitBits);
  const int shift = position % kDigitBits;
  const std::uint64_t mask = 0xffffffff;
  const std::uint64_t low = (bits & mask) << shift, high = (bits >> kDigitBits) << shift;
  const std::uint64_t digits[] = {low & mask, (low >> kDigitBits) + (high & mask),
                                  high >> kDigitBits};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto digit = static_cast<std::int64_t>(digits[i]);
    digits_[at + i] += negative ? -digit : digit;
  }
}

void BigSum::add_product(double x, double y) {
  if (x == 0 || y == 0) return;
  const Parts a = parts_of(x), b = parts_of(y);
  const bool negative = (x < 0) != (y < 0);
  // Halves of 27 and 26 bits, so that their products fit 64 bits.
  const int position = a.exponent + b.exponent - kLowest;
  const std::uint64_t half = (1U << 27) - 1;
  const std::uint64_t parts[] = {
      (a.mantissa & half) * (b.mantissa & half),
      (a.mantissa >> 27) * (b.mantissa & half) + (a.mantissa & half) * (b.mantissa >> 27),
      (a.mantissa >> 27) * (b.mantissa >> 27)};
  for (int i = 0; i < 3; ++i) add_bits(parts[i], position + 27 * i, negative);
  if (++terms_ == kTermsBeforeCarry) carry();
}

/// Makes all digits but the last non-negative and less than 2^32; that one has the sign.
void BigSum::carry() {
  for (std::size_t i = 0; i + 1 < kDigits; ++i) {
    const std::int64_t up = digits_[i] >> kDigitBits;  // rounded down
    digits_[i] -= up * (std::int64_t{1} << kDigitBits);
    digits_[i + 1] += up;
  }
  terms_ = 0;
}

BigFloat BigSum::value() {
  carry();
  static_assert((kDigits - 1) % 2 == 0);
  std::uint64_t words[(kDigits - 1) / 2];  // as GMP's, which copies these
  for (std::size_t i = 0; i < std::size(words); ++i)
    words[i] = static_cast<std::uint64_t>(digits_[2 * i]) |
               static_cast<std::uint64_t>(digits_[2 * i + 1]) << kDigitBits;
  mpz_t whole, behind;
  mpz_init(whole);
  mpz_init_set_si(behind, digits_.back());
  mpz_import(whole, std::size(words), -1, sizeof words[0], 0, 0, words);
  mpz_mul_2exp(behind, behind, (kDigits - 1) * kDigitBits);
  mpz_add(whole, whole, behind);

  const mp_bitcnt_t zeros = mpz_sgn(whole) == 0 ? 0 : mpz_scan1(whole, 0);
  mpz_tdiv_q_2exp(whole, whole, zeros);
  const auto bits = static_cast<mpfr_prec_t>(mpz_sizeinbase(whole, 2));
  BigFloat result(bits < MPFR_PREC_MIN ? MPFR_PREC_MIN : bits);
  mpfr_set_z_2exp(result, whole, static_cast<mpfr_exp_t>(zeros) + kLowest, MPFR_RNDN);
  mpz_clears(whole, behind, nullptr);
  return result;
}

BigFloat big_dot(const double* x, const double* y, Index count) {
  BigSum sum;
  for (Index i = 0; i < count; ++i) sum.add_product(x[i], y[i]);
  return sum.value();
}

}  // namespace sdpa
