// Measures what kernel/exp.h claims against MPFR: its constants, its polynomials and its errors. CI
// looks at a sample; with SDPA_EXHAUSTIVE set the sample is a hundred times as large, and for
// float32 it is every argument there is.

#include "kernel/exp.h"

#include "catch.h"
#include "oracle/big.h"
#include "oracle/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

using namespace sdpa::kernel::SDPA_ISA;
using sdpa::oracle::Big;
using sdpa::oracle::Random;

namespace {

constexpr mpfr_prec_t kPrecision = 300;

bool exhaustive() {
  return std::getenv("SDPA_EXHAUSTIVE") != nullptr;
}

Big big(double x) {
  Big result(kPrecision);
  mpfr_set_d(result, x, MPFR_RNDN);
  return result;
}

Big difference(const Big& a, const Big& b) {
  Big result(kPrecision);
  mpfr_sub(result, a, b, MPFR_RNDN);
  return result;
}

Big ln2() {
  Big result(kPrecision);
  mpfr_const_log2(result, MPFR_RNDN);
  return result;
}

/// 1/n!
Big inverse_factorial(unsigned long n) {
  Big result(kPrecision);
  mpfr_fac_ui(result, n, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
  return result;
}

/// x rounded to nearest with that many significant bits.
double rounded(const Big& x, mpfr_prec_t bits) {
  Big result(bits);
  mpfr_set(result, x, MPFR_RNDN);
  return mpfr_get_d(result, MPFR_RNDN);
}

/// |approximation / exact - 1|
double relative_error(const Big& approximation, const Big& exact) {
  Big error = difference(approximation, exact);
  mpfr_div(error, error, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error, MPFR_RNDA));
}

/// Relative error of `high + low` as exp(x_high + x_low).
double error_of_exp(double x_high, double x_low, double high, double low) {
  Big exact = big(x_high), approximation = big(high);
  mpfr_add_d(exact, exact, x_low, MPFR_RNDN);
  mpfr_exp(exact, exact, MPFR_RNDN);
  mpfr_add_d(approximation, approximation, low, MPFR_RNDN);
  return relative_error(approximation, exact);
}

/// Relative error of exp of a double-double whose high part is x.
double error_of_double_double(Random& random, double x) {
  const double x_low = x * 0x1p-53 * (2 * random.fraction() - 1);
  const DoubleDouble argument = fast_two_sum(broadcast(x), broadcast(x_low));
  const DoubleDouble result = exp(argument);
  return error_of_exp(argument.hi[0], argument.lo[0], result.hi[0], result.lo[0]);
}

/// The largest error seen, and its argument. NaN counts as infinite.
struct Largest {
  double error = 0, x = 0;
  void see(double candidate, double argument) {
    if (candidate <= error) return;
    error = std::isnan(candidate) ? HUGE_VAL : candidate;
    x = argument;
  }
};

/// The bound must hold, and be no more than `factor` above what was seen: a larger one would hide
/// a mistake.
void check_bound(const char* what, const Largest& seen, double bound, double factor) {
  std::printf("exp of %s: largest relative error seen 2^%.2f at %a, bound 2^%.2f, %.2f as large\n",
              what, std::log2(seen.error), seen.x, std::log2(bound), bound / seen.error);
  CHECK(seen.error <= bound);
  CHECK(bound <= factor * seen.error);
}

/// An argument in [smallest, largest]: anywhere, near zero, or where the reduced argument is
/// largest.
double random_argument(Random& random, double smallest, double largest) {
  const double anywhere = smallest + random.fraction() * (largest - smallest);
  double x = anywhere;
  if (random.one_in(4))
    x = random.normal() * std::ldexp(1, static_cast<int>(random.integer(-60, 2)));
  else if (random.one_in(3))
    x = (std::floor(anywhere / std::log(2.0)) + 0.5) * std::log(2.0);
  return std::clamp(x, smallest, largest);
}

/// Calls see(x, exp(x)) for every step-th float32 from 0 to `end`.
template <class See>
void for_floats_up_to(float end, std::uint32_t step, See see) {
  const std::uint32_t sign = std::bit_cast<std::uint32_t>(end) & 0x80000000u;
  const std::uint64_t last = std::bit_cast<std::uint32_t>(end) - sign;
  for (std::uint64_t next = 0; next <= last;) {
    FloatLanes x{};
    for (Index lane = 0; lane < kLanes<float>; ++lane, next += step)
      x[lane] = std::bit_cast<float>(
          sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(next, last)));
    const FloatLanes result = exp(x);
    for (Index lane = 0; lane < kLanes<float>; ++lane) see(x[lane], result[lane]);
  }
}

/// Largest relative error of 1 + r + r^2 polynomial(r) as exp(r), everything but the coefficients
/// in high precision.
template <class Number>
double error_of_polynomial() {
  constexpr int kSteps = 4000;
  double largest = 0;
  for (int step = -kSteps; step <= kSteps; ++step) {
    const Big r = big(0.34658 * step / kSteps);
    Big sum = big(0), exact(kPrecision);
    for (int power = std::ssize(ExpConstants<Number>::kPolynomial) - 1; power >= 0; --power) {
      mpfr_mul(sum, sum, r, MPFR_RNDN);
      mpfr_add_d(sum, sum, static_cast<double>(ExpConstants<Number>::kPolynomial[power]),
                 MPFR_RNDN);
    }
    for (double coefficient : {1.0, 1.0}) {
      mpfr_mul(sum, sum, r, MPFR_RNDN);
      mpfr_add_d(sum, sum, coefficient, MPFR_RNDN);
    }
    mpfr_exp(exact, r, MPFR_RNDN);
    largest = std::max(largest, relative_error(sum, exact));
  }
  return largest;
}

/// |x - n ln 2| for the n that exp takes.
template <class Number>
double reduced_argument(Number x) {
  const auto n = multiple_of_ln2<Number>(broadcast(x)).n;
  Big product = ln2();
  mpfr_mul_d(product, product, static_cast<double>(n[0]), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference(big(static_cast<double>(x)), product), MPFR_RNDN));
}

template <class Number>
void check_special_arguments() {
  constexpr Number kSmallest = ExpConstants<Number>::kSmallestExponent;
  constexpr Number kInfinity = std::numeric_limits<Number>::infinity();
  CHECK(exp(broadcast(Number(0)))[0] == 1);
  CHECK(exp(broadcast(Number(-0.0)))[0] == 1);
  CHECK(exp(broadcast(kSmallest))[0] >= std::numeric_limits<Number>::min());
  for (Number x : {std::nextafter(kSmallest, -kInfinity), 2 * kSmallest, Number(-1e30),
                   std::numeric_limits<Number>::lowest(), -kInfinity})
    CHECK(exp(broadcast(x))[0] == 0);
}

}  // namespace

TEST_CASE("exp: log2 e and the parts of ln 2 are what they are called", "[exp]") {
  Big log2_e(kPrecision);
  mpfr_ui_div(log2_e, 1, ln2(), MPFR_RNDN);

  using F = ExpConstants<float>;
  CHECK(F::kLog2E == rounded(log2_e, 24));
  CHECK(F::kLn2High == rounded(ln2(), 15));
  CHECK(F::kLn2Low == rounded(difference(ln2(), big(F::kLn2High)), 24));

  using D = ExpConstants<double>;
  CHECK(D::kLog2E == rounded(log2_e, 53));
  CHECK(D::kLn2High == rounded(ln2(), 42));
  const Big rest = difference(ln2(), big(D::kLn2High));
  CHECK(D::kLn2Low == rounded(rest, 53));
  CHECK(D::kLn2Lowest == rounded(difference(rest, big(D::kLn2Low)), 53));
}

TEST_CASE("exp: the inverse factorials are the nearest numbers", "[exp]") {
  unsigned long n = 0;
  for (const auto& [high, low] : kInverseFactorial) {
    INFO(n);
    const Big exact = inverse_factorial(n++);
    CHECK(high == rounded(exact, 53));
    CHECK(low == rounded(difference(exact, big(high)), 53));
  }
  for (double value : kInverseFactorialTail) {
    INFO(n);
    CHECK(value == rounded(inverse_factorial(n++), 53));
  }
  CHECK(n == 23);
}

TEST_CASE("exp: the polynomials are as close as their comments say", "[exp]") {
  const double float32 = std::log2(error_of_polynomial<float>());
  CHECK(float32 <= -26.6);
  CHECK(float32 > -26.7);
  const double float64 = std::log2(error_of_polynomial<double>());
  CHECK(float64 <= -55.7);
  CHECK(float64 > -55.8);
}

TEST_CASE("exp: the reduced argument is at most 0.34658", "[exp]") {
  for (int n = -125; n <= 126; ++n)
    for (const float offset : {-1e-5f, 0.0f, 1e-5f})
      CHECK(reduced_argument(static_cast<float>((n + 0.5) * std::log(2.0)) + offset) <= 0.34658);
  for (int n = -1021; n <= 1008; ++n)
    for (const double offset : {-1e-13, 0.0, 1e-13})
      CHECK(reduced_argument((n + 0.5) * std::log(2.0) + offset) <= 0.34658);
}

TEST_CASE("exp: special arguments", "[exp]") {
  check_special_arguments<float>();
  check_special_arguments<double>();

  const DoubleDouble one = exp(DoubleDouble{DoubleLanes{}, DoubleLanes{}});
  CHECK(one.hi[0] == 1);
  CHECK(one.lo[0] == 0);
  for (double x : {std::nextafter(-708.0, -1e9), -1e300, -HUGE_VAL}) {
    const DoubleDouble zero = exp(DoubleDouble{broadcast(x), DoubleLanes{}});
    CHECK(zero.hi[0] == 0);
    CHECK(zero.lo[0] == 0);
  }
}

TEST_CASE("exp of float32 is within two units of rounding", "[exp]") {
  // The exp of the standard library finds the worst argument: next to 2^-24 its own error is
  // nothing. MPFR then has the last word.
  Largest candidate;
  float worst_result = 0;
  const auto see = [&](float x, float result) {
    const double exact = std::exp(static_cast<double>(x));
    const double before = candidate.error;
    candidate.see(std::fabs(static_cast<double>(result) - exact) / exact, static_cast<double>(x));
    if (candidate.error != before) worst_result = result;
  };
  const std::uint32_t step = exhaustive() ? 1 : 997;
  for_floats_up_to(88.0f, step, see);
  for_floats_up_to(-87.0f, step, see);

  Largest seen;
  seen.see(error_of_exp(candidate.x, 0, static_cast<double>(worst_result), 0), candidate.x);
  CHECK(std::fabs(seen.error - candidate.error) < 0x1p-40);
  check_bound("float32", seen, 2 * 0x1p-24, 2);
}

TEST_CASE("exp of float64 is within two units of rounding", "[exp]") {
  Random random(1);
  Largest seen;
  for (int i = 0; i < (exhaustive() ? 10'000'000 : 100'000); ++i) {
    const double x = random_argument(random, -708, 700);
    seen.see(error_of_exp(x, 0, exp(broadcast(x))[0], 0), x);
  }
  check_bound("float64", seen, 2 * 0x1p-53, 2);
}

TEST_CASE("exp of double-double is within 2^-101", "[exp]") {
  Random random(2);
  Largest seen;
  for (int i = 0; i < (exhaustive() ? 1'000'000 : 20'000); ++i) {
    const double x = random_argument(random, -670, 700);
    seen.see(error_of_double_double(random, x), x);
  }
  check_bound("double-double", seen, 0x1p-101, 16);
}

TEST_CASE("exp of double-double: a subnormal low part adds at most 2^-1075", "[exp]") {
  Random random(3);
  double largest_excess = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = random_argument(random, -707.5, -670);
    const double underflow = std::exp(-x) * 0x1p-1000 * 0x1p-75;
    largest_excess =
        std::max(largest_excess, error_of_double_double(random, x) / (0x1p-101 + underflow));
  }
  CHECK(largest_excess <= 1);
  CHECK(largest_excess > 0.5);
}
