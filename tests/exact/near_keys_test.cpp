#include "exact/near_keys.h"

#include "catch.h"
#include "exact/big_sum.h"
#include "oracle/big.h"
#include "oracle/generators.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <cmath>
#include <numeric>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

/// How far the score of each key of row t lies below the largest, from exact dot products.
std::vector<double> gaps(const Head& head, Index t) {
  std::vector<double> q_t(static_cast<std::size_t>(head.n.d_k)), k_j(q_t.size()), result;
  head.q.read_rows(t, 1, q_t.data());
  std::vector<BigFloat> dots;
  std::size_t largest = 0;
  for (Index j = 0; j < head.n.T_k; ++j) {
    head.k.read_rows(j, 1, k_j.data());
    dots.push_back(big_dot(q_t.data(), k_j.data(), head.n.d_k));
    if (mpfr_cmp(dots.back(), dots[largest]) > 0) largest = dots.size() - 1;
  }
  Big gap(200), root(200);
  mpfr_sqrt_ui(root, static_cast<unsigned long>(head.n.d_k), MPFR_RNDN);
  for (const BigFloat& dot : dots) {
    mpfr_sub(gap, dots[largest], dot, MPFR_RNDN);
    mpfr_div(gap, gap, root, MPFR_RNDN);
    result.push_back(mpfr_get_d(gap, MPFR_RNDN));
  }
  return result;
}

double sum_of_absolute_products(const Head& head, Index t, Index j) {
  double sum = 0;
  for (Index i = 0; i < head.n.d_k; ++i) sum += std::fabs(head.q.at(t, i) * head.k.at(j, i));
  return sum;
}

}  // namespace

TEST_CASE("near_keys: those left out are far, those that are near are kept", "[near_keys]") {
  Index near_count = 0, far_count = 0, wrong = 0, superfluous = 0;
  for (std::uint64_t seed = 0; seed < 12000; ++seed) {
    const oracle::Problem problem = random_problem(seed);
    const Head head = make_head(problem.q, problem.k, problem.v);
    const Norms norms = measure_norms(head.k, head.v, 1);
    std::vector<Index> rows(static_cast<std::size_t>(head.n.T_q));
    std::iota(rows.begin(), rows.end(), Index{0});
    for (const double gap : {104., 746.}) {
      const std::vector<NearKeys> near = near_keys(head, norms, rows, gap);
      for (Index t : rows) {
        const NearKeys& row = near[static_cast<std::size_t>(t)];
        const std::vector<double> true_gaps = gaps(head, t);
        CHECK(row.count == std::ssize(row.keys.keys()));
        for (Index j = 0; j < head.n.T_k; ++j) {
          const double true_gap = true_gaps[static_cast<std::size_t>(j)];
          const double products = sum_of_absolute_products(head, t, j);
          if (row.keys.contains(j)) {
            ++near_count;
            wrong += !(row.products >= products * (1 - 0x1p-40));
            superfluous += true_gap > 1.01 * gap + row.products * 0x1p-40;
          } else {
            ++far_count;
            wrong += true_gap <= gap;
          }
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(superfluous < near_count / 1000);
  CHECK(near_count > 100000);
  CHECK(far_count > 100000);
}

TEST_CASE("near_keys: scores beyond float64 are still told apart", "[near_keys]") {
  const Array q = matrix({{0x1p600, 0x1p-400}}), v = matrix({{0}, {0}, {0}});
  const Array k = matrix({{0x1p600, 0}, {0x1.8p600, 1}, {-0x1p1000, 1}});
  const Head head = make_head(q, k, v);
  const Index row = 0;
  const NearKeys near = near_keys(head, measure_norms(k, v, 1), {&row, 1}, 104)[0];
  CHECK(near.keys.keys() == std::vector<Index>{1});
  CHECK(near.products == HUGE_VAL);
}
