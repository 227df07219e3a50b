#include "attention/heads.h"

#include "base/error.h"
#include "catch.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

Array normal(Random& random, std::vector<Index> extents, Dtype dtype = Dtype::float32) {
  Array array(Shape(std::move(extents)), dtype);
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    const double value = random.normal();
    store_rounded(&value, 1, dtype, array.mutable_data() + i * size_bytes(dtype));
  }
  return array;
}

bool same_bytes(const Array& a, const Array& b) {
  return a.size_bytes() == b.size_bytes() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size_bytes())) == 0;
}

struct Operands {
  Array q, k, v;
};

Operands operands(Random& random, Index heads, Index T_q, Index T_k) {
  return {normal(random, {heads, T_q, 8}), normal(random, {heads, T_k, 8}),
          normal(random, {heads, T_k, 5})};
}

/// Compares rows of all heads, asked for `step` at a time, with attention() head by head.
void compare(const Operands& in, Settings settings, Index step) {
  Heads heads(in.q, in.k, in.v, settings);
  const Index T_q = heads.problem().n.T_q;
  for (Index first = 0; first < heads.row_count(); first += step) {
    const Index count = std::min(step, heads.row_count() - first);
    const Attention some = heads.rows(first, count);
    for (Index r = 0; r < count; ++r) {
      const Index h = (first + r) / T_q, t = (first + r) % T_q;
      const Attention one =
          attention(in.q.matrix(h).rows(t, 1), in.k.matrix(h), in.v.matrix(h), settings);
      INFO("head " << h << ", row " << t << ", " << step << " rows at a time");
      REQUIRE(same_bytes(some.output.rows(r, 1), one.output));
      if (settings.weights) REQUIRE(same_bytes(some.weights->rows(r, 1), *one.weights));
    }
  }
}

}  // namespace

TEST_CASE("heads: each row is that of its own head, however many are asked for at a time") {
  Random random(1);
  const Operands in = operands(random, 5, 7, 30);
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32})
    for (const bool weights : {false, true})
      for (const Index step : {1, 6, 7, 9, 35})
        for (const int threads : {1, 3}) compare(in, {precision, {}, threads, weights}, step);
}

TEST_CASE("heads: query heads that share keys give what copies of the keys give") {
  Random random(4);
  const Array q = normal(random, {6, 40, 8}), k = normal(random, {2, 30, 8}),
              v = normal(random, {1, 30, 5});
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32})
    for (const Index step : {7, 240}) {
      Heads heads(q, k, v, {.precision = precision, .weights = true});
      for (Index first = 0; first < heads.row_count(); first += step) {
        const Attention some = heads.rows(first, std::min(step, heads.row_count() - first));
        for (Index r = 0; r < some.output.shape()[0]; ++r) {
          const Index h = (first + r) / 40, t = (first + r) % 40;
          const Attention one = attention(q.matrix(h).rows(t, 1), k.matrix(h / 3), v.matrix(0),
                                          {.precision = precision, .weights = true});
          REQUIRE(same_bytes(some.output.rows(r, 1), one.output));
          REQUIRE(same_bytes(some.weights->rows(r, 1), *one.weights));
        }
      }
    }
}

TEST_CASE("heads: every layout gives the same bytes") {
  Random random(5);
  constexpr Index B = 2, H = 4, G = 2, T_q = 9, T_k = 11, d = 3;
  const auto reordered = [](const Array& thd, Index T, Index heads) {  // to (B, heads, T, d)
    Array htd(Shape({B, heads, T, d}), thd.dtype());
    for (Index b = 0; b < B; ++b)
      for (Index t = 0; t < T; ++t)
        for (Index h = 0; h < heads; ++h)
          std::memcpy(htd.mutable_data() + ((b * heads + h) * T + t) * d * 4,
                      thd.data() + ((b * T + t) * heads + h) * d * 4, d * 4);
    return htd;
  };
  const auto flat = [](const Array& thd, Index T, Index heads) {
    Array array(Shape({B, T, heads * d}), thd.dtype());
    std::memcpy(array.mutable_data(), thd.data(), static_cast<std::size_t>(thd.size_bytes()));
    return array;
  };
  const Array q = normal(random, {B, T_q, H, d}), k = normal(random, {B, T_k, G, d}),
              v = normal(random, {B, T_k, G, d});
  const Settings settings{.weights = true};
  const auto all_rows = [](Heads heads) { return heads.rows(0, heads.row_count()); };
  const Attention htd =
      all_rows({reordered(q, T_q, H), reordered(k, T_k, G), reordered(v, T_k, G), settings});
  const Attention thd = all_rows({q, k, v, settings, {AxisOrder::thd, {}}});
  const Attention side_by_side =
      all_rows({flat(q, T_q, H), flat(k, T_k, G), flat(v, T_k, G), settings, {AxisOrder::htd, H}});
  CHECK(same_bytes(thd.output, htd.output));
  CHECK(same_bytes(*thd.weights, *htd.weights));
  CHECK(same_bytes(side_by_side.output, htd.output));

  const Problem problem = check_shapes(q, k, v, {AxisOrder::thd, {}});
  Array placed(problem.output_shape(), Dtype::float32);
  constexpr Index kStep = 5;
  for (Index first = 0; first < B * H * T_q; first += kStep)
    problem.place_rows(thd.output.rows(first, std::min(kStep, B * H * T_q - first)), first, placed);
  CHECK(same_bytes(reordered(placed, T_q, H), htd.output));
  CHECK(same_bytes(problem.in_order(placed), htd.output));
  CHECK(problem.in_order(placed).shape() == Shape({B, H, T_q, d}));
}

TEST_CASE("heads: values that are not finite stay in their head") {
  Random random(2);
  const Operands clean = operands(random, 3, 4, 6);
  Operands in = operands(random, 3, 4, 6);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  store_rounded(&nan, 1, Dtype::float32, in.k.mutable_data() + in.k.size_bytes() / 2);
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32})
    compare(in, {precision, {}, 2, true}, 5);
  Heads heads(in.q, in.k, in.v, {});
  const Attention all = heads.rows(0, heads.row_count());
  CHECK(all_finite(all.output, 0, 4 * 5));
  CHECK(std::isnan(all.output.at(4 * 5)));
  CHECK(all_finite(all.output, 8 * 5, 4 * 5));
}

TEST_CASE("heads: threads that share several heads change no bit") {
  Random random(3);
  const Operands in = operands(random, 40, 64, 600);  // worth several threads
  Heads one(in.q, in.k, in.v, {.threads = 1}), three(in.q, in.k, in.v, {.threads = 3});
  CHECK(same_bytes(one.rows(0, one.row_count()).output, three.rows(0, three.row_count()).output));
}

TEST_CASE("heads: no row and no head are ordinary") {
  const auto zeros = [](std::vector<Index> extents) {
    return Array(Shape(std::move(extents)), Dtype::float32);
  };
  Heads no_row(zeros({3, 0, 2}), zeros({3, 4, 2}), zeros({3, 4, 5}), {});
  CHECK(no_row.row_count() == 0);
  CHECK(no_row.rows_at_a_time() >= 1);
  CHECK(no_row.rows(0, 0).output.shape() == Shape({0, 5}));
  Heads no_head(zeros({0, 3, 2}), zeros({0, 4, 2}), zeros({0, 4, 5}), {});
  CHECK(no_head.row_count() == 0);
}

TEST_CASE("heads: operands that do not fit are called by the caller's names") {
  const Array q(Shape({2, 3}), Dtype::float32), k(Shape({2, 4}), Dtype::float32);
  CHECK_THROWS_WITH((Heads{q, k, k, {}, {}, {"q.npy", "k.npy", "v.npy"}}),
                    "k.npy: d_k is 4, but q.npy has d_k 3");
}
