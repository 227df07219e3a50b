#include "exact/real_average.h"

#include "catch.h"
#include "oracle/generators.h"
#include "oracle/matrix.h"
#include "oracle/mpfr.h"
#include "oracle/random.h"

#include <cmath>
#include <numeric>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

/// The given rows of a matrix.
Array rows_of_matrix(const Array& from, const std::vector<Index>& rows) {
  const Index columns = from.shape()[1];
  std::vector<double> values;
  for (Index r : rows)
    for (Index c = 0; c < columns; ++c) values.push_back(from.at(r * columns + c));
  return matrix(std::ssize(rows), columns, values, from.dtype());
}

/// Whether `stored` is what the type has for `value`: NaN beyond the range of float8_e4m3fn.
bool is_stored_as(double value, double stored) {
  return value == stored || (std::isinf(value) && std::isnan(stored));
}

}  // namespace

TEST_CASE("real_average: a row of some of the keys is that of a problem without the others",
          "[real_average]") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const oracle::Problem problem = random_problem(seed);
    Random random(seed);
    std::vector<Index> keys;
    for (Index j = 0; j < problem.k.shape()[0]; ++j)
      if (!random.one_in(3)) keys.push_back(j);
    if (keys.empty()) keys.push_back(0);

    const Attention expected = exact_attention(problem.q, rows_of_matrix(problem.k, keys),
                                               rows_of_matrix(problem.v, keys), problem.dtype);
    const Head head = make_head(problem.q, problem.k, problem.v);
    int differences = 0;
    for (Index t = 0; t < head.n.T_q; ++t) {
      RealScores scores(head, t, keys);
      RealAverage row(scores, problem.dtype);
      for (Index d = 0; d < head.n.d_v; ++d) {
        std::vector<double> values;
        for (Index j : keys) values.push_back(head.v.at(j, d));
        differences += !is_stored_as(row.average(values), expected.output.at(t * head.n.d_v + d));
      }
      for (Index at = 0; at < std::ssize(keys); ++at)
        differences +=
            !is_stored_as(row.weight(at), expected.weights->at(t * std::ssize(keys) + at));
    }
    INFO("seed " << seed << ", " << problem.generator);
    CHECK(differences == 0);
  }
}

TEST_CASE("real_scores: groups by equal score, the largest first", "[real_scores]") {
  const Array q = matrix({{3, 0x1p600, 1}}), v = matrix({{0}, {0}, {0}, {0}, {0}});
  // Scores 3, 2^1000 + 2^-60, 2^1000, 3, 2^1000 + 2^-60, times 1/sqrt(3).
  const Array k =
      matrix({{1, 0, 0}, {0, 0x1p400, 0x1p-60}, {0, 0x1p400, 0}, {0, 0, 3}, {0, 0x1p400, 0x1p-60}});
  const Head head = make_head(q, k, v);
  const std::vector<Index> keys = {0, 1, 2, 3, 4};
  RealScores scores(head, 0, keys);
  REQUIRE(scores.groups().size() == 3);
  CHECK(scores.group_of(1) == 0);
  CHECK(scores.group_of(4) == 0);
  CHECK(scores.group_of(2) == 1);
  CHECK(scores.group_of(0) == 2);
  CHECK(scores.group_of(3) == 2);

  BigFloat difference(64), expected(64);
  scores.difference(difference, 0, 1);
  mpfr_set_ui(expected, 3, MPFR_RNDN);
  mpfr_rec_sqrt(expected, expected, MPFR_RNDN);
  mpfr_mul_d(expected, expected, -0x1p-60, MPFR_RNDN);
  CHECK(mpfr_equal_p(difference, expected) != 0);
  CHECK(scores.least_gap(0, 1) > 0x1.27p-61);
  CHECK(scores.least_gap(0, 1) < 0x1.28p-61);
  CHECK(scores.least_gap(1, 2) > 0x1.27p999);
  CHECK(scores.least_gap(1, 2) < 0x1.28p999);
}

TEST_CASE("real_scores: dot products are equal in whatever order two doubles fail to hold them",
          "[real_scores]") {
  Random random(3);
  for (int row = 0; row < 50; ++row) {
    std::vector<double> key = {1,
                               0x1p-53,
                               random.normal() * 0x1p-60,
                               random.normal() * 0x1p-100,
                               random.normal() * 0x1p-120,
                               random.normal() * 0x1p-150};
    std::vector<double> k;
    std::vector<Index> keys;
    for (Index j = 0; j < 20; ++j) {
      k.insert(k.end(), key.begin(), key.end());
      keys.push_back(j);
      std::swap(key[static_cast<std::size_t>(random.integer(0, 5))],
                key[static_cast<std::size_t>(random.integer(0, 5))]);
    }
    const Array q = matrix({{1, 1, 1, 1, 1, 1}}), all_k = matrix(20, 6, k);
    const Array v = matrix(20, 1, std::vector<double>(20, 0));
    const Head head = make_head(q, all_k, v);
    RealScores scores(head, 0, keys);
    CHECK(scores.groups().size() == 1);
  }
}
