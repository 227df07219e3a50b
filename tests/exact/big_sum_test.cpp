#include "exact/big_sum.h"

#include "catch.h"
#include "oracle/big.h"
#include "oracle/random.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace sdpa;
using oracle::Big;
using oracle::Random;

namespace {

/// Whether big_dot gives the sum of x[i] * y[i].
bool gives_dot(const std::vector<double>& x, const std::vector<double>& y) {
  // Wide enough for every sum of products of doubles.
  Big expected(5000), product(106);
  mpfr_set_zero(expected, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    mpfr_set_d(product, x[i], MPFR_RNDN);
    mpfr_mul_d(product, product, y[i], MPFR_RNDN);
    mpfr_add(expected, expected, product, MPFR_RNDN);
  }
  const BigFloat got = big_dot(x.data(), y.data(), std::ssize(x));
  return mpfr_equal_p(got, expected) != 0;
}

}  // namespace

TEST_CASE("big_sum: literals at the ends of float64", "[big_sum]") {
  constexpr double kLargest = std::numeric_limits<double>::max(), kSmallest = 0x1p-1074;
  CHECK(gives_dot({}, {}));
  CHECK(gives_dot({0.0, -0.0}, {3, 5}));
  CHECK(gives_dot({kSmallest}, {kSmallest}));
  CHECK(gives_dot({-kSmallest, kLargest}, {kSmallest, kLargest}));
  CHECK(gives_dot({kLargest, kLargest, kLargest}, {kLargest, kLargest, kLargest}));
  CHECK(gives_dot({kLargest, -kLargest, kSmallest}, {kLargest, kLargest, kSmallest}));
  CHECK(gives_dot({1, -1, 0x1p-1022}, {1, 1, -0x1.8p-1}));
}

TEST_CASE("big_sum: random products of any exponents add up exactly", "[big_sum]") {
  Random random(1);
  for (int run = 0; run < 2000; ++run) {
    std::vector<double> x, y;
    const auto range = random.pick<std::int64_t>({0, 30, 500, 1070});
    for (std::int64_t i = random.integer(1, 40); i > 0; --i) {
      x.push_back(std::ldexp(random.normal(), static_cast<int>(random.integer(-range, range))));
      y.push_back(std::ldexp(random.normal(), static_cast<int>(random.integer(-range, range))));
      if (!std::isfinite(x.back())) x.back() = 1;
      if (!std::isfinite(y.back())) y.back() = 1;
      if (random.one_in(4)) {
        x.push_back(-x.front());
        y.push_back(y.front());
      }
    }
    INFO("run " << run);
    CHECK(gives_dot(x, y));
  }
}

TEST_CASE("big_sum: more terms than fit the digits between two carries", "[big_sum]") {
  constexpr double kLargest = 0x1.fffffffffffffp+0;
  constexpr int kTerms = (1 << 26) + 3;
  for (const double sign : {1.0, -1.0}) {
    BigSum sum;
    for (int i = 0; i < kTerms; ++i) sum.add_product(sign * kLargest, kLargest);
    Big expected(200);
    mpfr_set_d(expected, kLargest, MPFR_RNDN);
    mpfr_mul_d(expected, expected, kLargest, MPFR_RNDN);
    mpfr_mul_si(expected, expected, sign > 0 ? kTerms : -kTerms, MPFR_RNDN);
    CHECK(mpfr_equal_p(sum.value(), expected) != 0);
  }
}
