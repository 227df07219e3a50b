#include "attention/attention.h"

#include "base/error.h"
#include "catch.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr Precision kPrecisions[] = {Precision::exact, Precision::float64, Precision::float32};

Attention with_weights(const Array& q, const Array& k, const Array& v,
                       Precision precision = Precision::exact, int threads = 1) {
  return attention(q, k, v, {precision, std::nullopt, threads, true});
}

Settings without_weights(Precision precision) {
  return {precision, std::nullopt, 1, false};
}

Array random_matrix(Random& random, Index rows, Index columns, Dtype dtype = Dtype::float32) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.normal();
  return matrix(rows, columns, values, dtype);
}

/// The same rows in another order: row r of the result is row order[r].
Array reordered(const Array& array, const std::vector<Index>& order) {
  const Index columns = array.shape()[1];
  std::vector<double> values;
  for (Index row : order)
    for (Index c = 0; c < columns; ++c) values.push_back(array.at(row * columns + c));
  return matrix(static_cast<Index>(order.size()), columns, values, array.dtype());
}

}  // namespace

TEST_CASE("attention: q = ln 2 weighs two keys 2 : 1") {
  const Array q = matrix({{std::log(2.0)}, {0}}), k = matrix({{1}, {0}}),
              v = matrix({{3, 0}, {0, 6}});
  const Attention result = attention(q, k, v, {Precision::exact, Dtype::float32, 1, true});
  CHECK(values_of(result.output) == std::vector<double>{2, 2, 1.5, 3});
  CHECK(values_of(*result.weights) == std::vector<double>{2.0f / 3, 1.0f / 3, 0.5, 0.5});
}

TEST_CASE("attention: scores 0.5, 0, 0, 0 weigh the first key 35.5 % and the others 21.5 %") {
  const Attention result =
      with_weights(matrix({{0.5}}), matrix({{1}, {0}, {0}, {0}}), matrix({{1}, {0}, {0}, {0}}));
  // exp(0.5) / (exp(0.5) + 3) and 1 / (exp(0.5) + 3)
  CHECK(std::fabs(result.weights->at(0) - 0.35466124) < 1e-8);
  for (Index j = 1; j < 4; ++j) CHECK(std::fabs(result.weights->at(j) - 0.21511292) < 1e-8);
  CHECK(result.output.at(0) == result.weights->at(0));
}

TEST_CASE("attention: T_q, T_k, d_k and d_v may all differ") {
  Random random(1);
  const Attention result = with_weights(random_matrix(random, 2, 4), random_matrix(random, 5, 4),
                                        random_matrix(random, 5, 3));
  CHECK(result.output.shape() == Shape({2, 3}));
  CHECK(result.weights->shape() == Shape({2, 5}));
}

TEST_CASE("attention: no query, or no feature of v, gives an empty output") {
  for (Precision precision : kPrecisions) {
    Random random(2);
    const Array k = random_matrix(random, 5, 4), v = random_matrix(random, 5, 3);
    const Attention no_query =
        with_weights(Array(Shape({0, 4}), Dtype::float32), k, v, precision, 2);
    CHECK(no_query.output.shape() == Shape({0, 3}));
    CHECK(no_query.weights->shape() == Shape({0, 5}));

    const Array q = random_matrix(random, 2, 4);
    const Attention no_feature =
        with_weights(q, k, Array(Shape({5, 0}), Dtype::float32), precision, 2);
    CHECK(no_feature.output.shape() == Shape({2, 0}));
    CHECK(same_bytes(*no_feature.weights, *with_weights(q, k, v, precision).weights));
  }
}

TEST_CASE("attention: shapes that do not fit are an error") {
  CHECK_THROWS_AS(attention(matrix({{1, 2}}), matrix({{1}}), matrix({{1}})), Error);
  CHECK_THROWS_AS(attention(matrix({{1}}), matrix({{1}, {2}}), matrix({{1}})), Error);
}

TEST_CASE("attention: the result has the type that q, k and v share, or the one asked for") {
  const Array half = matrix({{1}}, Dtype::float16), brain = matrix({{1}}, Dtype::bfloat16),
              single = matrix({{1}}, Dtype::float32), wide = matrix({{1}}, Dtype::float64);
  CHECK(attention(half, half, half).output.dtype() == Dtype::float16);
  CHECK(attention(half, half, brain).output.dtype() == Dtype::float32);
  CHECK(attention(half, single, half).output.dtype() == Dtype::float32);
  CHECK(attention(wide, half, half).output.dtype() == Dtype::float64);
  Settings settings;
  settings.dtype = Dtype::bfloat16;
  settings.weights = true;
  CHECK(attention(wide, wide, wide, settings).output.dtype() == Dtype::bfloat16);
  CHECK(attention(wide, wide, wide, settings).weights->dtype() == Dtype::bfloat16);
}

TEST_CASE("attention: integers are taken exactly") {
  Array q(Shape({1, 1}), Dtype::int8), k(Shape({2, 1}), Dtype::uint16),
      v(Shape({2, 1}), Dtype::int64);
  const std::int64_t values[] = {std::int64_t{1} << 40, 3};
  std::copy_n(reinterpret_cast<const std::byte*>(values), sizeof values, v.mutable_data());
  const Array output = attention(q, k, v).output;
  CHECK(output.dtype() == Dtype::float64);
  CHECK(output.at(0) == (0x1p40 + 3) / 2);
}

TEST_CASE("attention: weights are returned only when asked for, and change no bit of the output") {
  Random random(3);
  const Array q = random_matrix(random, 40, 16), k = random_matrix(random, 70, 16),
              v = random_matrix(random, 70, 9);
  for (Precision precision : kPrecisions) {
    const Attention without = attention(q, k, v, without_weights(precision));
    CHECK_FALSE(without.weights.has_value());
    CHECK(same_bytes(without.output, with_weights(q, k, v, precision).output));
  }
}

// Large enough to be worth three threads, which share the queries, and two, which share the keys.
TEST_CASE("attention: the number of threads changes no bit") {
  const struct { Index T_q, T_k, d_k, d_v; } sizes[] = {{640, 640, 9, 7}, {3, 16500, 48, 40}};
  Random random(4);
  for (const auto& n : sizes) {
    const Array q = random_matrix(random, n.T_q, n.d_k), k = random_matrix(random, n.T_k, n.d_k),
                v = random_matrix(random, n.T_k, n.d_v);
    for (Precision precision : kPrecisions)
      for (Dtype dtype : {Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
        const Attention one = attention(q, k, v, {precision, dtype, 1, true});
        for (int threads : {2, 3}) {
          INFO(n.T_q << " queries, " << threads << " threads, " << name(dtype));
          const Attention many = attention(q, k, v, {precision, dtype, threads, true});
          CHECK(same_bytes(one.output, many.output));
          CHECK(same_bytes(*one.weights, *many.weights));
        }
      }
  }
}

TEST_CASE("attention: a row's bytes do not depend on the other rows") {
  Random random(5);
  const Array q = random_matrix(random, 33, 12), k = random_matrix(random, 130, 12),
              v = random_matrix(random, 130, 5);
  for (Precision precision : kPrecisions) {
    const Attention all = with_weights(q, k, v, precision);
    for (Index first : {0, 1, 7, 16, 30})
      for (Index count : {1, 2, 3}) {
        INFO("rows from " << first << ", " << count);
        const Attention some = with_weights(q.rows(first, count), k, v, precision);
        CHECK(same_bytes(some.output, all.output.rows(first, count)));
        CHECK(same_bytes(*some.weights, all.weights->rows(first, count)));
      }
  }
}

TEST_CASE("attention: a column's bytes do not depend on the other columns of v") {
  Random random(6);
  const Array q = random_matrix(random, 9, 8), k = random_matrix(random, 40, 8),
              v = random_matrix(random, 40, 7);
  std::vector<double> last_column;
  for (Index j = 0; j < 40; ++j) last_column.push_back(v.at(j * 7 + 6));
  for (Precision precision : kPrecisions) {
    const Array all = with_weights(q, k, v, precision).output;
    const Array one =
        with_weights(q, k, matrix(40, 1, last_column, Dtype::float32), precision).output;
    for (Index t = 0; t < 9; ++t) CHECK(one.at(t) == all.at(t * 7 + 6));
  }
}

TEST_CASE("attention: exact results do not depend on the order of the keys", "[exact]") {
  Random random(7);
  const Array q = random_matrix(random, 9, 8), k = random_matrix(random, 100, 8),
              v = random_matrix(random, 100, 7);
  std::vector<Index> order(100);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + 37, order.end());
  std::reverse(order.begin() + 20, order.end());
  for (Dtype dtype : {Dtype::float16, Dtype::float32, Dtype::float64}) {
    const Settings settings{Precision::exact, dtype, 1, false};
    CHECK(same_bytes(attention(q, k, v, settings).output,
                     attention(q, reordered(k, order), reordered(v, order), settings).output));
  }
}

TEST_CASE("attention: the same vector added to every key changes no exact result") {
  // Sums of small integers are exact, so both problems have the same real result.
  Random random(8);
  std::vector<double> keys, shifted;
  for (int i = 0; i < 30 * 4; ++i) {
    keys.push_back(static_cast<double>(random.integer(-3, 3)));
    shifted.push_back(keys.back() + 100 * (i % 4) - 77);
  }
  const Array q = random_matrix(random, 5, 4), v = random_matrix(random, 30, 3);
  const Attention a = with_weights(q, matrix(30, 4, keys), v);
  const Attention b = with_weights(q, matrix(30, 4, shifted), v);
  CHECK(same_bytes(a.output, b.output));
  CHECK(same_bytes(*a.weights, *b.weights));
}

TEST_CASE("attention: each row of weights sums to one") {
  Random random(9);
  const Index T_k = 300;
  const Attention result =
      attention(random_matrix(random, 10, 16), random_matrix(random, T_k, 16),
                random_matrix(random, T_k, 1), {Precision::exact, Dtype::float64, 1, true});
  for (Index t = 0; t < 10; ++t) {
    double sum = 0;
    for (Index j = 0; j < T_k; ++j) sum += result.weights->at(t * T_k + j);
    // Each weight is rounded once, by at most 2^-53 of it, and so is each of the T_k sums.
    CHECK(std::fabs(sum - 1) <= (T_k + 1) * 0x1p-53);
  }
}

TEST_CASE("attention: every output is within the range of its column of v") {
  Random random(10);
  const Array v = random_matrix(random, 30, 4);
  const Array output =
      attention(random_matrix(random, 20, 8), random_matrix(random, 30, 8), v).output;
  for (Index d = 0; d < 4; ++d) {
    double lowest = v.at(d), highest = v.at(d);
    for (Index j = 1; j < 30; ++j) {
      lowest = std::min(lowest, v.at(j * 4 + d));
      highest = std::max(highest, v.at(j * 4 + d));
    }
    for (Index t = 0; t < 20; ++t) {
      CHECK(output.at(t * 4 + d) >= lowest);
      CHECK(output.at(t * 4 + d) <= highest);
    }
  }
}

TEST_CASE("attention: one key gives its value in every precision") {
  Random random(11);
  const Array v = random_matrix(random, 1, 5);
  for (Precision precision : kPrecisions) {
    const Attention result =
        with_weights(random_matrix(random, 1, 3), random_matrix(random, 1, 3), v, precision);
    CHECK(values_of(result.output) == values_of(v));
    CHECK(result.weights->at(0) == 1);
  }
}

TEST_CASE("attention: a zero is +0") {
  for (Precision precision : kPrecisions) {
    const Array q = matrix({{0}}), k = matrix({{1}, {1}});
    const Array negative_zeros =
        attention(q, k, matrix({{-0.0}, {-0.0}}), without_weights(precision)).output;
    CHECK_FALSE(std::signbit(negative_zeros.at(0)));
    const Array underflow =
        attention(q, k, matrix({{-0x1p-1074}, {0}}), {precision, Dtype::float32, 1, false}).output;
    CHECK(underflow.at(0) == 0);
    CHECK_FALSE(std::signbit(underflow.at(0)));
  }
}

TEST_CASE("attention: scores of 1e30 and -1e30 choose the largest in every precision") {
  const Array q = matrix({{1e15}}, Dtype::float32),
              k = matrix({{-1e15}, {1e15}, {0}}, Dtype::float32);
  const Array v = matrix({{1}, {2}, {3}}, Dtype::float32);
  for (Precision precision : kPrecisions)
    CHECK(attention(q, k, v, without_weights(precision)).output.at(0) == 2);
}
