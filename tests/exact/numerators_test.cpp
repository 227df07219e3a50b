#include "exact/numerators.h"

#include "catch.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr mpfr_prec_t kLow = 128, kHigh = 1024;

/// |a - b|
BigFloat distance(mpfr_srcptr a, mpfr_srcptr b) {
  BigFloat result(kHigh);
  mpfr_sub(result, a, b, MPFR_RNDN);
  mpfr_abs(result, result, MPFR_RNDN);
  return result;
}

/// Scores of a random row, the largest about `reach` above the smallest, all different.
struct RandomRow {
  Array q, k, v;
  std::vector<Index> keys;
  Head head;

  RandomRow(Random& random, Index T_k, double reach)
      : q(matrix({{reach, 1, 0x1p-70}})),
        k(random_keys(random, T_k)),
        v(matrix(T_k, 1, std::vector<double>(static_cast<std::size_t>(T_k), 1))),
        keys(static_cast<std::size_t>(T_k)),
        head(make_head(q, k, v)) {
    std::iota(keys.begin(), keys.end(), Index{0});
  }

  static Array random_keys(Random& random, Index T_k) {
    std::vector<double> values;
    for (Index i = 0; i < 3 * T_k; ++i) values.push_back(random.fraction());
    return matrix(T_k, 3, values);
  }
};

}  // namespace

TEST_CASE("numerators: are off by what they say at most, and not by far less", "[numerators]") {
  Random random(1);
  double largest = 0, largest_of_ratio = 0;
  for (int row = 0; row < 20; ++row) {
    const RandomRow problem(random, 50, 200);
    RealScores scores(problem.head, 0, problem.keys);
    Numerators low(scores, 0, kLow), high(scores, 0, kHigh);
    for (std::size_t g = 0; g < scores.groups().size(); ++g) {
      const BigFloat *rough = low.of(g), *exact = high.of(g);
      REQUIRE(exact != nullptr);
      if (rough == nullptr) {
        CHECK(mpfr_lessequal_p(*exact, low.negligible()) != 0);
        continue;
      }
      BigFloat error = distance(*rough, *exact);
      mpfr_div(error, error, *exact, MPFR_RNDN);
      CHECK(mpfr_lessequal_p(error, low.error()) != 0);
      mpfr_div(error, error, low.error(), MPFR_RNDN);
      largest = std::max(largest, mpfr_get_d(error, MPFR_RNDN));

      const auto ratio = ratio_to_first(scores, g, kLow, 400);
      REQUIRE(ratio.has_value());
      error = distance(ratio->value, *exact);
      mpfr_div(error, error, *exact, MPFR_RNDN);
      CHECK(mpfr_lessequal_p(error, ratio->error) != 0);
      mpfr_div(error, error, ratio->error, MPFR_RNDN);
      largest_of_ratio = std::max(largest_of_ratio, mpfr_get_d(error, MPFR_RNDN));
    }
  }
  // Three roundings that are each at their worst are not met.
  CHECK(largest > 0.15);
  CHECK(largest_of_ratio > 0.3);
}

TEST_CASE("numerators: a sum over groups is off by what it says at most", "[numerators]") {
  Random random(2);
  for (int row = 0; row < 20; ++row) {
    // Of few groups with large arguments, whose numerators are what is off; of many; and of some
    // with negligible ones.
    for (const auto& [T_k, reach] : {std::pair{Index{3}, 150.0}, {500, 0.01}, {50, 1000.0}}) {
      const RandomRow problem(random, T_k, reach);
      RealScores scores(problem.head, 0, problem.keys);
      Numerators low(scores, 0, kLow), high(scores, 0, kHigh);
      GroupSum rough(low), exact(high);
      // The first is small, so that the others count.
      BigFloat c(53);
      for (std::size_t g = 0; g < scores.groups().size(); ++g) {
        mpfr_set_d(c, g == 0 ? 0x1p-250 : random.normal(), MPFR_RNDN);
        rough.add(g, c);
        exact.add(g, c);
      }
      INFO("T_k " << T_k << ", row " << row);
      CHECK(mpfr_lessequal_p(distance(rough.value(), exact.value()), rough.error()) != 0);
    }
  }
}

TEST_CASE("numerators: what is out of reach has no ratio to the first", "[numerators]") {
  const Array q = matrix({{1}}), k = matrix({{0}, {-100}}), v = matrix({{0}, {0}});
  const Head head = make_head(q, k, v);
  const std::vector<Index> keys = {0, 1};
  RealScores scores(head, 0, keys);
  CHECK(ratio_to_first(scores, 1, kLow, 101).has_value());
  CHECK(!ratio_to_first(scores, 1, kLow, 99).has_value());
}

TEST_CASE("numerators: exp of small arguments to many digits", "[numerators]") {
  // By the series where 128 terms are enough.
  for (const Index d_k : {1, 2})
    for (const double x : {0x1p-7, 0x1.8p-9, 0x1.23456789abcdep-40, 0x1p-1070})
      for (const mpfr_prec_t precision : {512, 1024, 2048, 20000}) {
        INFO("d_k " << d_k << ", x " << x << ", precision " << precision);
        const std::vector<double> ones(static_cast<std::size_t>(d_k), 1);
        std::vector<double> keys(static_cast<std::size_t>(2 * d_k), 0);
        keys.back() = -x;
        const Array q = matrix(1, d_k, ones), k = matrix(2, d_k, keys), v = matrix({{0}, {0}});
        const Head head = make_head(q, k, v);
        const std::vector<Index> positions = {0, 1};
        RealScores scores(head, 0, positions);
        const auto ratio = ratio_to_first(scores, 1, precision, 1);
        REQUIRE(ratio.has_value());

        BigFloat expected(precision + 200), error(precision + 200);
        mpfr_sqrt_ui(expected, static_cast<unsigned long>(d_k), MPFR_RNDN);
        mpfr_d_div(expected, -x, expected, MPFR_RNDN);
        mpfr_exp(expected, expected, MPFR_RNDN);
        mpfr_sub(error, ratio->value, expected, MPFR_RNDN);
        mpfr_div(error, error, expected, MPFR_RNDN);
        CHECK(mpfr_cmpabs(error, ratio->error) <= 0);
      }
}
