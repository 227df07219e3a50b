#include "attention/score_rows.h"

#include "catch.h"
#include "oracle/generators.h"
#include "oracle/masks.h"
#include "oracle/matrix.h"
#include "oracle/rounding.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Of all numbers of these problems: dot products of doubles are exact.
constexpr mpfr_prec_t kPrecision = 5000;

Big score(const Array& q, const Array& k, Index t, Index j, double bias) {
  const Index d_k = q.shape()[1];
  Big sum(kPrecision), product(kPrecision), root(kPrecision);
  mpfr_set_zero(sum, 1);
  for (Index i = 0; i < d_k; ++i) {
    mpfr_set_d(product, q.at(t * d_k + i), MPFR_RNDN);
    mpfr_mul_d(product, product, k.at(j * d_k + i), MPFR_RNDN);
    mpfr_add(sum, sum, product, MPFR_RNDN);
  }
  mpfr_sqrt_ui(root, static_cast<unsigned long>(d_k), MPFR_RNDN);
  mpfr_div(sum, sum, root, MPFR_RNDN);
  mpfr_add_d(sum, sum, bias, MPFR_RNDN);
  return sum;
}

double rounded(const Big& x, Dtype dtype) {
  Array one(Shape({1}), dtype);
  store(round_to(x, format_of(dtype)), dtype, one.mutable_data());
  return one.at(0);
}

/// ln sum exp of scores, at least one, with digits to spare for a rounding that is not that of a score.
double log_sum(const std::vector<Big>& scores, Dtype dtype) {
  if (scores.size() == 1) return rounded(scores[0], dtype);
  const Big* largest = &scores[0];
  for (const Big& s : scores)
    if (mpfr_cmp(s, *largest) > 0) largest = &s;
  constexpr mpfr_prec_t kDigits = 700;
  Big sum(kDigits), term(kDigits);
  mpfr_set_zero(sum, 1);
  for (const Big& s : scores) {
    mpfr_sub(term, s, *largest, MPFR_RNDN);
    if (mpfr_cmp_d(term, -500) < 0) continue;  // below 2^-700 of the sum
    mpfr_exp(term, term, MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  mpfr_log(sum, sum, MPFR_RNDN);
  mpfr_add(term, sum, *largest, MPFR_RNDN);
  if (mpfr_zero_p(static_cast<mpfr_srcptr>(sum)) != 0) mpfr_nextabove(term);  // what was left out
  return rounded(term, dtype);
}

int random_problems() {
  const char* count = std::getenv("SDPA_COUNT");
  return (count != nullptr ? std::atoi(count) : 2000) / 4;
}

/// Of one row of these, float32 or as the numbers are.
double only_log_sum(const Array& q, const Array& k, const MaskOptions& mask = {}) {
  const Array v(Shape({k.shape()[0], 1}), k.dtype());
  Heads heads(q, k, v, {}, {}, {}, mask);
  return ScoreRows(heads, 1).log_sums(0, 1).at(0);
}

}  // namespace

TEST_CASE("score_rows: random log-sum-exps and scores are those of MPFR", "[score_rows]") {
  for (int i = 0; i < random_problems(); ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const oracle::Problem problem = random_problem(seed);
    const Index T_q = problem.q.shape()[0], T_k = problem.k.shape()[0];
    const MaskOptions mask = i % 2 == 0 ? MaskOptions{} : random_mask(seed, T_q, T_k);
    Settings settings{.dtype = i % 3 == 0 ? Dtype::float64 : Dtype::float32, .threads = 1 + i % 3};
    Heads heads(problem.q, problem.k, problem.v, settings, {}, {}, mask);
    ScoreRows rows(heads, settings.threads);
    const Array lse = rows.log_sums(0, T_q), scores = rows.scores(0, T_q, ScoreStage::mask),
                scaled = rows.scores(0, T_q, ScoreStage::scale);
    const std::vector<Seen> seen = seen_by(mask, T_q, T_k);
    INFO("seed " << seed << ", " << problem.generator << ", " << described(mask));
    int differences = 0;
    for (Index t = 0; t < T_q; ++t) {
      const Seen& of_row = seen[static_cast<std::size_t>(t)];
      std::vector<double> wanted(static_cast<std::size_t>(T_k), -kInfinity);
      std::vector<Big> all;
      for (std::size_t at = 0; at < of_row.keys.size(); ++at) {
        const Index j = of_row.keys[at];
        all.push_back(score(problem.q, problem.k, t, j, of_row.biases[at]));
        wanted[static_cast<std::size_t>(j)] = ::rounded(all.back(), rows.dtype());
      }
      const double wanted_lse = all.empty() ? -kInfinity : log_sum(all, rows.dtype());
      differences += lse.at(t) != wanted_lse;
      for (Index j = 0; j < T_k; ++j) {
        differences += scores.at(t * T_k + j) != wanted[static_cast<std::size_t>(j)];
        differences +=
            scaled.at(t * T_k + j) != ::rounded(score(problem.q, problem.k, t, j, 0), rows.dtype());
      }
    }
    CHECK(differences == 0);
  }
}

TEST_CASE("score_rows: a single score halfway between two numbers, and just beside",
          "[score_rows]") {
  const auto lse = [](std::initializer_list<double> q, std::initializer_list<double> k) {
    const auto row = [](std::initializer_list<double> x) {
      return matrix(1, std::ssize(x), std::vector<double>(x), Dtype::float32);
    };
    return only_log_sum(row(q), row(k));
  };
  constexpr double u = 0x1p-24;
  CHECK(lse({1, u, 0, 0}, {2, 2, 0, 0}) == 1);                      // 1 + 2^-24: to even
  CHECK(lse({1, u, 0x1p-100, 0}, {2, 2, 2, 0}) == 1 + 2 * u);       // just above
  CHECK(lse({1, 3 * u, 0, 0}, {2, 2, 0, 0}) == 1 + 4 * u);          // 1 + 3 2^-24: to even
  CHECK(lse({1, 3 * u, -0x1p-100, 0}, {2, 2, 2, 0}) == 1 + 2 * u);  // just below
  CHECK(lse({3, 3 * u, 0, 0, 0, 0, 0, 0, 0}, {1, 1, 0, 0, 0, 0, 0, 0, 0}) == 1);  // a root of 3
  CHECK(lse({0, 0}, {1, 1}) == 0);
}

TEST_CASE("score_rows: halfway between two numbers but for keys that are far below",
          "[score_rows]") {
  constexpr double u = 0x1p-24;
  for (const double far : {-30.0, -1000.0, -1e9, -1e30}) {
    const auto lse = [far](double high, double low) {
      const Array q = matrix({{high, low, 0, 1}}, Dtype::float32);
      return only_log_sum(q, matrix({{2, 2, 0, 0}, {0, 0, 0, 2 * far}}, Dtype::float32));
    };
    INFO(far);
    CHECK(lse(1, u) == 1 + 2 * u);         // above 1 + 2^-24
    CHECK(lse(-1, -3 * u) == -1 - 2 * u);  // above -1 - 3 2^-24
    CHECK(lse(1, 2 * u) == 1 + 2 * u);
  }
}

TEST_CASE("score_rows: near zero, where the logarithm cancels the largest score", "[score_rows]") {
  // Two scores of s = -ln 2 as float64 has it: ln(2 exp(s)) = ln 2 - 0.693..., below half a bit of it.
  const double s = -0.6931471805599453;
  const Array q = matrix({{1}}, Dtype::float64), k = matrix({{s}, {s}}, Dtype::float64);
  CHECK(only_log_sum(q, k) == 2.3190468138462996e-17);  // ln 2 to 40 digits, minus the double
}

TEST_CASE("score_rows: values that are not finite", "[score_rows]") {
  const Array one = matrix({{1}});
  CHECK(std::isnan(only_log_sum(matrix({{kNan}}), one)));
  CHECK(only_log_sum(one, matrix({{kInfinity}, {3}})) == kInfinity);
  CHECK(only_log_sum(one, matrix({{-kInfinity}, {3}})) == 3);
  CHECK(only_log_sum(one, matrix({{-kInfinity}, {-kInfinity}})) == -kInfinity);
  CHECK(std::isnan(only_log_sum(one, matrix({{kInfinity}, {kNan}}))));
  CHECK(std::isnan(only_log_sum(matrix({{0}}), matrix({{kInfinity}, {1}}))));
}
