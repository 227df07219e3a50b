#pragma once

#include "array/array.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <cmath>
#include <functional>
#include <vector>

/// Random problems for bound_test.cpp: larger than those of oracle/generators.h, and of sizes and
/// exponents that make roundings show.
namespace sdpa::oracle {

struct Operands {
  Array q, k, v;
};

/// A number for position `column` of row `row`.
using Generator = std::function<double(Index row, Index column)>;

inline Array generated(Index rows, Index columns, Dtype dtype, const Generator& generator) {
  std::vector<double> values;
  for (Index row = 0; row < rows; ++row)
    for (Index column = 0; column < columns; ++column) values.push_back(generator(row, column));
  return matrix(rows, columns, values, dtype);
}

/// 1 ... largest, each order of magnitude as likely.
inline Index random_extent(Random& random, Index largest) {
  return static_cast<Index>(std::pow(static_cast<double>(largest) + 0.999, random.fraction()));
}

struct Sizes {
  Index T_q, T_k, d_k, d_v;
};

inline Sizes random_sizes(Random& random) {
  return {random.integer(1, 4), random_extent(random, 3000), random_extent(random, 130),
          random_extent(random, 130)};
}

/// q and k of the given deviation, v of 1.
inline Operands normal_operands(Random& random, Dtype dtype, const Sizes& n, double deviation) {
  const auto normal = [&](double size) {
    return [&random, size](Index, Index) { return size * random.normal(); };
  };
  return {generated(n.T_q, n.d_k, dtype, normal(deviation)),
          generated(n.T_k, n.d_k, dtype, normal(deviation)),
          generated(n.T_k, n.d_v, dtype, normal(1))};
}

inline Operands normal_operands(Random& random, Dtype dtype, const Sizes& n) {
  return normal_operands(random, dtype, n,
                         random.pick(std::vector{0.1, 0.3, 1.0, 3.0, 10.0, 30.0}));
}

/// Exponents from a range, which is at times at the ends of float64: products and sums that
/// overflow or underflow.
inline Operands wide_operands(Random& random, Dtype dtype, const Sizes& n) {
  struct Range {
    int low, high;
  };
  const bool is_float64 = dtype == Dtype::float64;
  const Range of_scores = random.pick(
      std::vector<Range>{{-30, 4}, {0, 20}, is_float64 ? Range{-560, -500} : Range{-149, -70}});
  const Range of_values =
      random.pick(is_float64 ? std::vector<Range>{{-300, 300}, {900, 1023}, {-1074, -1050}}
                             : std::vector<Range>{{-100, 100}, {-149, -110}});
  const auto wide = [&](Range range) {
    return [&random, range](Index, Index) {
      const double mantissa = (1 + random.fraction()) * (random.one_in(2) ? 1 : -1);
      return std::ldexp(mantissa, static_cast<int>(random.integer(range.low, range.high - 1)));
    };
  };
  return {generated(n.T_q, n.d_k, dtype, wide(of_scores)),
          generated(n.T_k, n.d_k, dtype, wide(of_scores)),
          generated(n.T_k, n.d_v, dtype, wide(of_values))};
}

/// Neighbouring products of a score cancel, and neighbouring keys have equal weights and values
/// that cancel: nearly, or exactly.
inline Operands cancelling_operands(Random& random, Dtype dtype, const Sizes& n) {
  const double rest = random.pick(std::vector{0.0, 0x1p-20, 0x1p-45});
  double last = 0;
  const auto cancel_last = [&] { return last = -last * (1 + rest * random.normal()); };
  const auto next = [&](double size) { return last = size * random.normal(); };
  const Generator queries = [&](Index, Index i) { return i % 2 == 0 ? next(4) : last; };
  const Generator keys = [&](Index, Index i) { return i % 2 == 0 ? next(16) : cancel_last(); };
  std::vector<double> above(static_cast<std::size_t>(n.d_v));
  const Generator values = [&](Index j, Index d) {
    last = above[static_cast<std::size_t>(d)];
    return above[static_cast<std::size_t>(d)] = j % 2 == 0 ? next(1) : cancel_last();
  };
  return {generated(n.T_q, n.d_k, dtype, queries), generated(n.T_k, n.d_k, dtype, keys),
          generated(n.T_k, n.d_v, dtype, values)};
}

inline Operands integer_operands(Random& random, Dtype dtype, const Sizes& n) {
  const std::int64_t largest = random.pick(std::vector<std::int64_t>{1, 8, 64});
  const auto integers = [&](std::int64_t size) {
    return
        [&random, size](Index, Index) { return static_cast<double>(random.integer(-size, size)); };
  };
  return {generated(n.T_q, n.d_k, dtype, integers(largest)),
          generated(n.T_k, n.d_k, dtype, integers(largest)),
          generated(n.T_k, n.d_v, dtype, integers(2048))};
}

struct Kind {
  const char* name;
  Operands (*operands)(Random&, Dtype, const Sizes&);
};
inline constexpr Kind kKinds[] = {{"normal", normal_operands},
                                  {"wide", wide_operands},
                                  {"cancelling", cancelling_operands},
                                  {"integers", integer_operands}};

}  // namespace sdpa::oracle
