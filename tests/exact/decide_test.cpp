#include "exact/decide.h"

#include "catch.h"
#include "oracle/big.h"
#include "oracle/random.h"
#include "oracle/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr Dtype kFloats[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();

Big exact_sum(double a, double b) {
  return exact([&](mpfr_ptr r) {
    mpfr_set_d(r, a, MPFR_RNDN);  // 53 bits fit always
    return mpfr_add_d(r, r, b, MPFR_RNDN);
  });
}

double number_at(Ordinal ordinal, const Format& format) {
  if (ordinal >= format.infinity) return kInfinity;
  if (ordinal <= -format.infinity) return -kInfinity;
  return mpfr_get_d(value_of(ordinal, format), MPFR_RNDN);
}

/// x rounded once, by the referee.
double rounded(const Big& x, Dtype dtype) {
  return number_at(round_to(x, format_of(dtype)), format_of(dtype));
}

/// An ordinal whose number is subnormal, close to infinity, or anything.
Ordinal random_ordinal(Random& random, const Format& format) {
  const Ordinal smallest_normal = Ordinal{1} << (format.precision - 1);
  const Ordinal sign = random.one_in(2) ? 1 : -1;
  switch (random.integer(0, 3)) {
    case 0:
      return sign * random.integer(0, smallest_normal + 1);
    case 1:
      return sign * (format.infinity - random.integer(1, 3));
    default:
      return sign * random.integer(0, format.infinity - 1);
  }
}

struct DoubleSum {
  double high, low;
};

/// The midpoint after a number, or the number, and something small beside it or nothing. The sum is
/// at times not normalised.
DoubleSum near_midpoint(Random& random, Dtype dtype) {
  const Format format = format_of(dtype);
  const Ordinal ordinal = random_ordinal(random, format);
  Big point = random.one_in(3) ? value_of(ordinal, format) : midpoint_after(ordinal, format);
  const double high = mpfr_get_d(point, MPFR_RNDZ);
  mpfr_sub_d(point, point, high, MPFR_RNDN);
  double low = mpfr_get_d(point, MPFR_RNDN);
  if (low == 0 && !random.one_in(4)) {
    const double size = std::max(std::fabs(high) * 0x1p-53, kSmallest);
    low = (random.one_in(2) ? size : -size) *
          std::ldexp(random.fraction(), static_cast<int>(random.integer(-40, 8)));
  }
  return random.one_in(8) ? DoubleSum{low, high} : DoubleSum{high, low};
}

/// What decide makes of one number, or NaN; low may be absent, which takes other ways through it.
double decide_one(double high, double error, Dtype dtype, const double* low = nullptr) {
  double result = 0;
  const Index open = decide(&high, low, &error, 1, dtype, &result);
  REQUIRE(open == (std::isnan(result) ? 1 : 0));
  return result;
}

bool same(double a, double b) {
  return a == b && std::signbit(a) == std::signbit(b);
}

}  // namespace

TEST_CASE("round_sum: rounds once", "[decide]") {
  Random random(1);
  for (const Dtype dtype : kFloats)
    for (int i = 0; i < 20000; ++i) {
      const auto [high, low] = near_midpoint(random, dtype);
      const double result = round_sum(high, low, dtype);
      const double expected = rounded(exact_sum(high, low), dtype) + 0.0;
      INFO(name(dtype) << ": " << high << " + " << low << " is " << result << ", not " << expected);
      CHECK(same(result, expected));
    }
}

TEST_CASE("round_sum: literals", "[decide]") {
  // Half way between 1 and the next float32, and the least bit more.
  CHECK(round_sum(1 + 0x1p-24, 0, Dtype::float32) == 1);
  CHECK(round_sum(1 + 0x1p-24, kSmallest, Dtype::float32) == 1 + 0x1p-23);
  CHECK(round_sum(1 + 0x1p-24, -kSmallest, Dtype::float32) == 1);
  CHECK(round_sum(1 + 3 * 0x1p-24, -kSmallest, Dtype::float32) == 1 + 0x1p-23);
  CHECK(round_sum(1, 0x1p-53, Dtype::float64) == 1);
  CHECK(round_sum(65504, 16, Dtype::float16) == kInfinity);
  CHECK(round_sum(65520, -kSmallest, Dtype::float16) == 65504);
  CHECK(round_sum(-65520, 0, Dtype::float16) == -kInfinity);
  CHECK(round_sum(0x1p-25, kSmallest, Dtype::float16) == 0x1p-24);
  CHECK(same(round_sum(0x1p-25, 0, Dtype::float16), 0.0));
  CHECK(same(round_sum(-0x1p-25, 0, Dtype::float16), 0.0));
  CHECK(same(round_sum(-0.0, -0.0, Dtype::float64), 0.0));
}

TEST_CASE("decide: what is decided is what every number of the interval rounds to", "[decide]") {
  Random random(2);
  for (const Dtype dtype : kFloats) {
    Index decided = 0;
    for (int i = 0; i < 20000; ++i) {
      auto [high, low] = near_midpoint(random, dtype);
      if (std::fabs(high) < std::fabs(low)) std::swap(high, low);
      const bool without_low = random.one_in(2);
      if (without_low) low = 0;
      const double error = std::ldexp(std::fabs(high), -static_cast<int>(random.integer(20, 80)));
      const double result = decide_one(high, error, dtype, without_low ? nullptr : &low);
      if (std::isnan(result)) continue;
      ++decided;
      Big below = exact_sum(high, low), above = below;
      below = exact([&](mpfr_ptr r) { return mpfr_sub_d(r, below, error, MPFR_RNDN); });
      above = exact([&](mpfr_ptr r) { return mpfr_add_d(r, above, error, MPFR_RNDN); });
      if (same(result, rounded(below, dtype) + 0.0) && same(result, rounded(above, dtype) + 0.0))
        continue;
      FAIL_CHECK(name(dtype) << ": " << high << " + " << low << " +- " << error << " is not "
                             << result);
    }
    CHECK(decided > 2000);
  }
}

TEST_CASE("decide: an interval around a midpoint is undecided", "[decide]") {
  Random random(3);
  for (const Dtype dtype : kFloats)
    for (int i = 0; i < 2000; ++i) {
      const Format format = format_of(dtype);
      Big midpoint = midpoint_after(random_ordinal(random, format), format);
      const double high = mpfr_get_d(midpoint, MPFR_RNDZ);
      mpfr_sub_d(midpoint, midpoint, high, MPFR_RNDN);
      const double low = mpfr_get_d(midpoint, MPFR_RNDN);
      // Half of the smallest number is a midpoint that no sum of doubles is.
      if (low == 0 && mpfr_zero_p(midpoint) == 0) continue;
      CHECK(std::isnan(decide_one(high, std::fabs(high) * 0x1p-100 + kSmallest, dtype, &low)));
      if (low == 0) CHECK(std::isnan(decide_one(high, kSmallest, dtype)));
    }
}

TEST_CASE("decide: an end beyond a midpoint by less than float64 shows is seen", "[decide]") {
  for (const Dtype dtype : kFloats) {
    // 1 + half_a_step is the first midpoint above 1. Both intervals reach past it by at most one
    // unit in the last place of half_a_step, which the plain sums for their ends round away.
    const double half_a_step = std::ldexp(1, -format_of(dtype).precision);
    const double low = half_a_step / 2 + half_a_step * 0x1p-53;
    CHECK(std::isnan(decide_one(1, half_a_step / 2, dtype, &low)));
    // The error is a hundredth more than what is between this low part and half a step.
    const double just_below = half_a_step * (1 - 0x1p-53);
    CHECK(std::isnan(decide_one(1, half_a_step * 0x1.04p-53, dtype, &just_below)));
    // The low part is half more than what is between this error and half a step; 1.5 has the same
    // step below it.
    const double small = half_a_step * 0x1.8p-53;
    CHECK(std::isnan(decide_one(1.5, half_a_step * (1 - 0x1p-53), dtype, &small)));
    CHECK(std::isnan(decide_one(1, half_a_step * (1 + 0x1p-52), dtype)));
  }
  // Half the smallest number, with so little beside it that only 2^-52 of the number shows it.
  CHECK(std::isnan(decide_one(0x1p-150, 0x1p-270, Dtype::float32)));
}

TEST_CASE("decide: an error far larger than its number reaches as far as both together",
          "[decide]") {
  for (const Dtype dtype : kFloats) {
    if (dtype == Dtype::float64) continue;
    // Half the smallest number still rounds to zero, and anything beyond does not.
    const double half = std::ldexp(1, format_of(dtype).smallest_exponent - 1);
    for (const double high : {half * 0x1p-54, half * 0x1p-60, -half * 0x1p-60, kSmallest}) {
      INFO(name(dtype) << ", " << high);
      CHECK(std::isnan(decide_one(high, half, dtype)));
      CHECK(std::isnan(decide_one(high, half, dtype, &high)));
      CHECK(same(decide_one(high, half * (1 - 0x1p-40), dtype), 0.0));
    }
  }
}

TEST_CASE("decide: an interval far from midpoints is decided", "[decide]") {
  Random random(4);
  for (const Dtype dtype : kFloats)
    for (int i = 0; i < 2000; ++i) {
      const Format format = format_of(dtype);
      const double number = number_at(random_ordinal(random, format), format);
      // The midpoints beside a normal number are at least 2^-precision / 2 of it away.
      const double error = std::fabs(number) * std::ldexp(1, -format.precision - 2);
      const double low = 0;
      if (error < 4 * kSmallest) continue;
      CHECK(decide_one(number, error, dtype, &low) == number);
      if (dtype != Dtype::float64) CHECK(decide_one(number, error, dtype) == number);
    }
}

TEST_CASE("decide: without error every sum is decided, ties too", "[decide]") {
  const double none = 0;
  CHECK(decide_one(1 + 0x1p-11, 0, Dtype::float16, &none) == 1);
  CHECK(decide_one(1 + 3 * 0x1p-11, 0, Dtype::float16, &none) == 1 + 0x1p-9);
  CHECK(decide_one(1 + 0x1p-24, 0, Dtype::float32, &none) == 1);
  const double half_a_unit = 0x1p-53;
  CHECK(decide_one(1, 0, Dtype::float64, &half_a_unit) == 1);
  for (const Dtype dtype : kFloats)
    for (const double number : {1.0, -0.5, 1984.0, 0x1p-24}) {
      CHECK(decide_one(number, 0, dtype) == number);
      CHECK(decide_one(number, 0, dtype, &none) == number);
    }
}

TEST_CASE("decide: what is not finite is undecided", "[decide]") {
  for (const Dtype dtype : kFloats)
    for (const double low : {0.0, 1.0})
      for (const double* low_part : {static_cast<const double*>(nullptr), &low}) {
        for (const double high : {kNan, kInfinity, -kInfinity})
          for (const double error : {0.0, 1.0, kInfinity, kNan})
            CHECK(std::isnan(decide_one(high, error, dtype, low_part)));
        for (const double error : {kInfinity, kNan})
          CHECK(std::isnan(decide_one(1, error, dtype, low_part)));
      }
}

TEST_CASE("decide: zero is +0", "[decide]") {
  const double none = -0.0;
  for (const Dtype dtype : kFloats) {
    for (const double zero : {0.0, -0.0}) {
      CHECK(same(decide_one(zero, 0, dtype), 0.0));
      CHECK(same(decide_one(zero, 0, dtype, &none), 0.0));
    }
    if (dtype == Dtype::float64) continue;
    for (const double tiny : {0x1p-200, -0x1p-200}) {
      CHECK(same(decide_one(tiny, 0x1p-200, dtype), 0.0));
      CHECK(same(decide_one(tiny, 0x1p-200, dtype, &none), 0.0));
    }
  }
}

TEST_CASE("decide: counts what is undecided, and decides the others", "[decide]") {
  const std::vector<double> high{1, 1 + 0x1p-24, 2, kNan, -3}, error(5, 0x1p-40), low(5, 0.0);
  for (const double* low_part : {static_cast<const double*>(nullptr), low.data()}) {
    std::vector<double> result(5);
    CHECK(decide(high.data(), low_part, error.data(), 5, Dtype::float32, result.data()) == 2);
    CHECK(result[0] == 1);
    CHECK(std::isnan(result[1]));
    CHECK(result[2] == 2);
    CHECK(std::isnan(result[3]));
    CHECK(result[4] == -3);
  }
}
