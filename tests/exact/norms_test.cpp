#include "exact/norms.h"

#include "catch.h"
#include "kernel/blocks.h"
#include "oracle/big.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;
using kernel::kFeatureChain;
using kernel::kKeyBlock;
using kernel::kKeyChain;
using kernel::kKeySpan;

namespace {

/// A number of MPFR, whose exponents go further than any product of four doubles.
Big big(double x) {
  Big result(200);
  mpfr_set_d(result, x, MPFR_RNDN);
  return result;
}

/// How often feature i is in a partial sum, counted one sum after another: those of its chain, and
/// those of the chains that have been joined so far, from the second on.
std::vector<double> counted_partial_sums(Index d_k) {
  std::vector<double> counts(static_cast<std::size_t>(d_k));
  const auto sum = [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) ++counts[static_cast<std::size_t>(i)];
  };
  for (Index first = 0; first < d_k; first += kFeatureChain) {
    const Index end = std::min(first + kFeatureChain, d_k);
    for (Index last = first + 1; last <= end; ++last) sum(first, last);
    if (first > 0) sum(0, end);
  }
  return counts;
}

/// The same of the weighted sum of T_k keys: products, chains, blocks, spans and the total.
std::vector<double> counted_roundings(Index T_k) {
  std::vector<double> counts(static_cast<std::size_t>(T_k));
  const auto round = [&](Index first, Index last) {
    for (Index j = first; j < last; ++j) ++counts[static_cast<std::size_t>(j)];
  };
  // Sums of pieces of `length` keys each, from `first` on: one is rounded after each piece.
  const auto add_pieces = [&](Index first, Index end, Index length) {
    for (Index last = first; last < end;) {
      last = std::min(last + length, end);
      round(first, last);
    }
  };
  for (Index span = 0; span < T_k; span += kKeySpan) {
    const Index span_end = std::min(span + kKeySpan, T_k);
    for (Index block = span; block < span_end; block += kKeyBlock) {
      const Index block_end = std::min(block + kKeyBlock, span_end);
      for (Index chain = block; chain < block_end; chain += kKeyChain)
        add_pieces(chain, std::min(chain + kKeyChain, block_end), 1);
      add_pieces(block, block_end, kKeyChain);
    }
    add_pieces(span, span_end, kKeyBlock);
  }
  round(0, T_k);
  return counts;
}

/// sum_i factors[i] * x(i)^2
Big sum_of_squares(Index count, const std::function<Big(Index)>& factor,
                   const std::function<double(Index)>& x) {
  Big sum = big(0);
  for (Index i = 0; i < count; ++i) {
    Big term = factor(i);
    mpfr_mul_d(term, term, x(i), MPFR_RNDN);
    mpfr_mul_d(term, term, x(i), MPFR_RNDN);
    mpfr_add(sum, sum, term, MPFR_RNDN);
  }
  return sum;
}

/// At least the root of `square`, and not much more; squares that underflow may add a little, and
/// those that overflow make it infinite.
void check_root(double norm, Big square, double slack = 0) {
  if (mpfr_get_d(square, MPFR_RNDN) == HUGE_VAL) {
    CHECK(norm == HUGE_VAL);
    return;
  }
  mpfr_sqrt(square, square, MPFR_RNDN);
  const double exact = mpfr_get_d(square, MPFR_RNDU);
  INFO(norm << " for " << exact);
  CHECK(mpfr_cmp_d(square, norm) <= 0);
  CHECK(norm <= exact * (1 + 0x1p-20) + slack);
}

void check_norms(const Array& q, const Array& k, const Array& v, int threads, double slack = 0) {
  const Norms norms = measure_norms(k, v, threads);
  const Index T_k = k.shape()[0], d_k = k.shape()[1], d_v = v.shape()[1];
  const std::vector<double> n = counted_partial_sums(d_k), rounded = counted_roundings(T_k);
  CHECK(norms.partial_sums == n);

  const auto one = [](Index) { return big(1); };
  const auto count = [&](Index i) { return big(n[static_cast<std::size_t>(i)]); };
  Big k_square = big(0), k_partial_square = big(0), all_square = big(0);
  std::vector<Big> partial_squares;
  for (Index j = 0; j < T_k; ++j) {
    const auto k_j = [&](Index i) { return k.at(j * d_k + i); };
    const Big square = sum_of_squares(d_k, one, k_j);
    partial_squares.push_back(sum_of_squares(d_k, count, k_j));
    mpfr_max(k_square, k_square, square, MPFR_RNDN);
    mpfr_max(k_partial_square, k_partial_square, partial_squares.back(), MPFR_RNDN);
    mpfr_add(all_square, all_square, square, MPFR_RNDN);
  }
  check_root(norms.k, k_square, slack);
  check_root(norms.k_partial, k_partial_square, slack);
  check_root(norms.k_all, all_square, slack);

  for (Index d = 0; d < d_v; ++d) {
    const auto column = static_cast<std::size_t>(d);
    const auto v_d = [&](Index j) { return v.at(j * d_v + d); };
    double largest = 0;
    for (Index j = 0; j < T_k; ++j) largest = std::max(largest, std::fabs(v_d(j)));
    INFO("column " << d);
    CHECK(norms.v_largest[column] == largest);
    check_root(norms.v[column], sum_of_squares(T_k, one, v_d), slack);
    check_root(norms.v_partial[column],
               sum_of_squares(
                   T_k, [&](Index j) { return partial_squares[static_cast<std::size_t>(j)]; }, v_d),
               slack);
    Big by_roundings = sum_of_squares(
        T_k,
        [&](Index j) {
          Big square = big(roundings(j));
          mpfr_sqr(square, square, MPFR_RNDN);
          return square;
        },
        v_d);
    check_root(norms.v_roundings[column], by_roundings, slack);
  }

  for (Index t = 0; t < q.shape()[0]; ++t) {
    const std::vector<double> q_t = values_of(q.rows(t, 1));
    const auto q_i = [&](Index i) { return q_t[static_cast<std::size_t>(i)]; };
    const QueryNorms query = query_norms(norms, q_t.data());
    check_root(query.norm, sum_of_squares(d_k, one, q_i), slack);
    check_root(query.partial, sum_of_squares(d_k, count, q_i), slack);
  }
}

Array normal_matrix(Random& random, Index rows, Index columns) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.normal();
  return matrix(rows, columns, values);
}

}  // namespace

TEST_CASE("norms: those of random matrices of any shape", "[norms]") {
  Random random(1);
  for (const Index d_k : {1, 3, 4, 15, 16, 17, 64, 100})
    for (const Index T_k : {1, 7, 8, 9, 600, 1025}) {
      INFO("d_k " << d_k << ", T_k " << T_k);
      check_norms(normal_matrix(random, 2, d_k), normal_matrix(random, T_k, d_k),
                  normal_matrix(random, T_k, 1 + T_k % 4), T_k == 600 ? 3 : 1);
    }
}

TEST_CASE("norms: one large element counts wherever it stands", "[norms]") {
  Random random(2);
  for (const Index T_k : {9, 600, 1025})
    for (const Index j : {Index{0}, T_k / 2, T_k - 1}) {
      INFO("T_k " << T_k << ", row " << j);
      std::vector<double> k = values_of(normal_matrix(random, T_k, 18)),
                          v = values_of(normal_matrix(random, T_k, 2));
      for (Index i = 0; i < 18; ++i) k[static_cast<std::size_t>(j * 18 + i)] *= 1e6;
      v[static_cast<std::size_t>(2 * j)] = -1e6;
      check_norms(normal_matrix(random, 1, 18), matrix(T_k, 18, k), matrix(T_k, 2, v), 2);
    }
}

TEST_CASE("norms: squares that underflow are made up for", "[norms]") {
  Random random(3);
  for (const double k_size : {0x1p-1074, 0x1p-600, 0x1p-540, 0x1p-530, 1.0, 0x1p500})
    for (const double v_size : {0x1p-1074, 0x1p-540, 1.0, 0x1p400, 0x1p480}) {
      INFO("k " << k_size << ", v " << v_size);
      std::vector<double> k = values_of(normal_matrix(random, 20, 20)),
                          v = values_of(normal_matrix(random, 20, 2));
      for (double& x : k) x *= k_size;
      for (double& x : v) x *= v_size;
      // P of a row of zeros is taken for 2^-510 times the root of n_i, so v_partial may be too large
      // by that times the values.
      const double slack = 0x1p-500 * (1 + v_size) * std::max(k_size, 1.0);
      check_norms(matrix(1, 20, {k.begin(), k.begin() + 20}), matrix(20, 20, k), matrix(20, 2, v),
                  1, slack);
    }
}

TEST_CASE("norms: what float64 cannot hold is infinite, and what is not finite shows", "[norms]") {
  const double nan = std::nan("");
  const Array one = matrix({{1}, {1}});
  CHECK(measure_norms(matrix({{1}, {0x1p512}}), one, 1).k == HUGE_VAL);
  CHECK(measure_norms(matrix({{1}, {0x1p512}}), one, 1).k_partial == HUGE_VAL);
  CHECK(measure_norms(matrix({{1}, {0x1p512}}), one, 1).k_all == HUGE_VAL);
  CHECK(measure_norms(one, matrix({{1}, {0x1p512}}), 1).v[0] == HUGE_VAL);
  CHECK(measure_norms(one, matrix({{1}, {0x1p512}}), 1).v_largest[0] == 0x1p512);
  for (const double x : {nan, HUGE_VAL, -HUGE_VAL}) {
    CHECK(!std::isfinite(measure_norms(matrix({{1}, {x}}), one, 1).k_all));
    CHECK(!std::isfinite(measure_norms(one, matrix({{1}, {x}}), 1).v[0]));
  }
}

TEST_CASE("norms: no key takes part in more roundings than are counted", "[norms]") {
  for (const Index T_k : {1, 33, 600, 2048, 5000}) {
    const std::vector<double> counted = counted_roundings(T_k);
    for (Index j = 0; j < T_k; ++j) {
      const double most = roundings(j), counted_j = counted[static_cast<std::size_t>(j)];
      INFO("key " << j << " of " << T_k);
      CHECK((counted_j <= most && most <= roundings(0)));
    }
  }
  // The last span that is whole has no slack.
  const std::vector<double> counted = counted_roundings(kKeySpan);
  for (Index j = 0; j < kKeySpan; ++j) {
    INFO("key " << j);
    CHECK(roundings(j) == counted[static_cast<std::size_t>(j)]);
  }
}
