#include "exact/exact_sum.h"

#include "catch.h"
#include "oracle/big.h"
#include "oracle/random.h"

#include <cmath>
#include <vector>

using namespace sdpa;
using oracle::Big;
using oracle::Random;

namespace {

ExactSum dot(const std::vector<double>& x, const std::vector<double>& y) {
  return exact_dot(x.data(), y.data(), std::ssize(x));
}

/// Whether high + low is the sum of x[i] * y[i], and high the nearest number to it.
bool is_dot(const ExactSum& sum, const std::vector<double>& x, const std::vector<double>& y) {
  // Wide enough for every sum of products of doubles.
  Big expected(5000), product(106), got(5000);
  mpfr_set_zero(expected, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    mpfr_set_d(product, x[i], MPFR_RNDN);
    mpfr_mul_d(product, product, y[i], MPFR_RNDN);
    mpfr_add(expected, expected, product, MPFR_RNDN);
  }
  mpfr_set_d(got, sum.high, MPFR_RNDN);
  mpfr_add_d(got, got, sum.low, MPFR_RNDN);
  return mpfr_equal_p(got, expected) != 0 && sum.high == mpfr_get_d(expected, MPFR_RNDN);
}

std::vector<double> integers(Random& random, std::size_t count, std::int64_t largest) {
  std::vector<double> x(count);
  for (double& value : x) value = static_cast<double>(random.integer(-largest, largest));
  return x;
}

}  // namespace

TEST_CASE("exact_dot: literals", "[exact_sum]") {
  // (2^27 + 1)^2 = 2^54 + 2^28 + 1 needs 55 bits.
  const ExactSum square = dot({0x1p27 + 1}, {0x1p27 + 1});
  CHECK(square.exact());
  CHECK(square.high == 0x1p54 + 0x1p28);
  CHECK(square.low == 1);

  const ExactSum cancelled = dot({0x1p27 + 1, 0x1p54, 0x1p28}, {0x1p27 + 1, -1, -1});
  CHECK(cancelled.exact());
  CHECK(cancelled.high == 1);
  CHECK(cancelled.low == 0);
}

TEST_CASE("exact_dot: sums of integers are exact", "[exact_sum]") {
  Random random(1);
  for (const std::int64_t largest : {std::int64_t{9}, std::int64_t{1} << 24, std::int64_t{1} << 42})
    for (const std::size_t count : {1, 2, 7, 64, 300}) {
      const std::vector<double> x = integers(random, count, largest),
                                y = integers(random, count, largest);
      const ExactSum sum = dot(x, y);
      INFO(count << " products of numbers up to " << largest);
      CHECK(sum.exact());
      CHECK(is_dot(sum, x, y));
    }
}

TEST_CASE("exact_dot: is exact where it says so", "[exact_sum]") {
  Random random(2);
  int exact = 0;
  constexpr int kRuns = 4000;
  for (int run = 0; run < kRuns; ++run) {
    const int range = static_cast<int>(random.integer(0, 40));
    std::vector<double> x, y;
    for (std::int64_t i = random.integer(1, 12); i > 0; --i) {
      x.push_back(std::ldexp(random.normal(), static_cast<int>(random.integer(-range, range))));
      y.push_back(std::ldexp(static_cast<double>(random.integer(-99, 99)),
                             static_cast<int>(random.integer(-range, range))));
    }
    const ExactSum sum = dot(x, y);
    if (!sum.exact()) continue;
    ++exact;
    if (!is_dot(sum, x, y)) FAIL_CHECK("run " << run << " is not " << sum.high << " + " << sum.low);
  }
  // Neither always nor never.
  CHECK(exact > kRuns / 10);
  CHECK(exact < kRuns * 9 / 10);
}

TEST_CASE("exact_dot: products whose low half may underflow, and overflow, are not exact",
          "[exact_sum]") {
  CHECK_FALSE(dot({0x1.0000001p-500}, {0x1.0000001p-500}).exact());
  CHECK_FALSE(dot({1, 0x1p-600}, {1, 0x1p-600}).exact());
  CHECK_FALSE(dot({1, 0x1p-1074}, {1, 0x1p-1074}).exact());
  CHECK_FALSE(dot({0x1p600}, {0x1p600}).exact());
  CHECK_FALSE(dot({0x1p600, 0x1p600}, {0x1p600, -0x1p600}).exact());

  const ExactSum with_zeros = dot({3, 0, 0x1p-1074}, {5, 0x1p-1074, 0});
  CHECK(with_zeros.exact());
  CHECK(with_zeros.high == 15);
}
