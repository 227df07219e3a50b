// Each kind of error alone: what it does to a result at its worst, to first order, computed here from
// what the kernel does, against the bound that RowBound makes of it. A term that is left out makes
// its bound zero; one that is cut by half is seen wherever the worst is more than half of the bound.

#include "exact/bound.h"

#include "catch.h"
#include "oracle/matrix.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;
using kernel::ArithmeticError;
using kernel::kFeatureChain;
using kernel::kKeyBlock;
using kernel::kKeySpan;

namespace {

/// One query, and columns of v that make one or another term large.
struct Case {
  std::string name;
  std::vector<double> q;        // [d_k]
  std::vector<double> factors;  // [T_k] key j is q times factors[j]
  bool bounded;
  /// A column of v.
  double (*value)(Index j);
};

double alternating(Index j) {
  return j % 2 == 0 ? 1 : -1;
}
double constant(Index) {
  return 1;
}
double first_is_one(Index j) {
  return j == 0 ? 1 : 0;
}

/// Keys of the first block have the weight; each later block raises the maximum by its first key.
std::vector<double> ascending_blocks(Index T_k) {
  std::vector<double> factors;
  for (Index j = 0; j < T_k; ++j)
    factors.push_back(j < kKeyBlock || j % kKeyBlock == 0 ? 1e-6 * static_cast<double>(j) : -20.);
  std::fill_n(factors.begin(), kKeyBlock, 0);
  return factors;
}

std::vector<double> equal_but_last(Index T_k, double factor, double last) {
  std::vector<double> factors(static_cast<std::size_t>(T_k), factor);
  factors.back() = last;
  return factors;
}

std::vector<Case> cases() {
  const std::vector<double> one{1}, two_chains(20, 2);
  // With the scale 1/sqrt(20) these scores are 18 times the factors.
  std::vector<Case> all;
  for (const auto value : {alternating, constant, first_is_one}) {
    all.push_back({"equal scores", two_chains, equal_but_last(64, 1, 1), true, value});
    // Of no weight, but it may have the largest value.
    all.push_back({"a far key", two_chains, equal_but_last(65, 1, -1), true,
                   [](Index j) { return j == 64 ? 2 : alternating(j); }});
    all.push_back({"one key of a tenth", one, equal_but_last(1000, 0, 0), true, value});
    all.back().factors[0] = std::log(1000 / 9.);
    all.push_back({"rising maxima", one, ascending_blocks(kKeySpan), false, value});
    all.push_back(
        {"rising maxima, spans", one, ascending_blocks(2 * kKeySpan + 300), false, value});
    all.push_back({"all far below the last", one, equal_but_last(64, -0.01, 0.01), false, value});
    all.push_back({"small numerators", two_chains, equal_but_last(64, -1, -1), true, value});
    all.push_back({"spans", one, equal_but_last(2 * kKeySpan + 1, 1, 1), true, value});
  }
  return all;
}

/// What is true of a case.
struct Row {
  const Case& of;
  std::vector<double> s, w, v;
  double m = 0, sum = 0, squares = 0, o = 0;

  explicit Row(const Case& c) : of(c) {
    const double q_square = std::inner_product(c.q.begin(), c.q.end(), c.q.begin(), 0.0);
    for (const double factor : c.factors)
      s.push_back(factor * q_square / std::sqrt(static_cast<double>(c.q.size())));
    if (!c.bounded) m = *std::ranges::max_element(s);
    for (std::size_t j = 0; j < s.size(); ++j) {
      const double p = std::exp(s[j] - m);
      w.push_back(p);
      v.push_back(c.value(static_cast<Index>(j)));
      sum += p;
      squares += p * p;
    }
    for (double& w_j : w) w_j /= sum;
    o = std::inner_product(w.begin(), w.end(), v.begin(), 0.0);
  }

  Index keys() const { return std::ssize(s); }
  Index features() const { return std::ssize(of.q); }
  Index spans() const { return (keys() + kKeySpan - 1) / kKeySpan; }

  double largest_score(Index first, Index last) const {
    return *std::max_element(s.begin() + first, s.begin() + std::min(last, keys()));
  }

  /// How often the numerator of key j is scaled down after it was computed: when a later block of
  /// its span, its span's turn to join those before it, or a later span raises the maximum.
  Index raises_after(Index j) const {
    if (of.bounded) return 0;
    const Index span = j / kKeySpan * kKeySpan;
    double largest = largest_score(span, (j / kKeyBlock + 1) * kKeyBlock);
    Index count = 0;
    const auto raise = [&](double to) {
      count += to > largest;
      largest = std::max(to, largest);
    };
    for (Index block = (j / kKeyBlock + 1) * kKeyBlock; block < std::min(span + kKeySpan, keys());
         block += kKeyBlock)
      raise(largest_score(block, block + kKeyBlock));
    if (span > 0) raise(largest_score(0, span));
    for (Index next = span + kKeySpan; next < keys(); next += kKeySpan)
      raise(largest_score(next, next + kKeySpan));
    return count;
  }

  /// Sum of the absolute values of all partial sums of q_t k_j, scaled.
  double partial_sums(Index j) const {
    double all = 0, chains = 0;
    for (Index first = 0; first < features(); first += kFeatureChain) {
      double chain = 0;
      for (Index i = first; i < std::min(first + kFeatureChain, features()); ++i) {
        const double q_i = of.q[static_cast<std::size_t>(i)];
        chain += q_i * q_i * of.factors[static_cast<std::size_t>(j)];
        all += std::fabs(chain);
      }
      chains += chain;
      if (first > 0) all += std::fabs(chains);
    }
    return all / std::sqrt(static_cast<double>(features()));
  }
};

/// Relative error of the numerator of key j, per unit of the kind.
using NumeratorError = double (*)(const Row&, Index j);
double at(const std::vector<double>& x, Index j) {
  return x[static_cast<std::size_t>(j)];
}
/// What is scaled and subtracted until the end, the raises included: they lead from s_j to m.
double distance(const Row& row, Index j) {
  return row.m - at(row.s, j);
}

struct Kind {
  const char* name;
  double ArithmeticError::*constant;
  NumeratorError of_numerator;  // or null
  /// Besides, of an output, and of a weight w.
  double (*of_output)(const Row&);
  double (*of_weight)(const Row&, double w);
  double ratio;  // of the worst case to the bound, seen in some case at least
};

double zero(const Row&) {
  return 0;
}
double nothing(const Row&, double) {
  return 0;
}
double once(const Row&, double w) {
  return w;
}
double absolute_sum(const Row& row) {
  double sum = 0;
  for (Index j = 0; j < row.keys(); ++j) sum += at(row.w, j) * std::fabs(at(row.v, j));
  return sum;
}
double output(const Row& row) {
  return std::fabs(row.o);
}

const Kind kKinds[] = {
    {"partial_sum", &ArithmeticError::partial_sum,
     [](const Row& row, Index j) { return row.partial_sums(j); }, zero, nothing, 0.9},
    {"dot", &ArithmeticError::dot,
     [](const Row& row, Index j) {
       const auto chains = static_cast<double>((row.features() + 15) / 16);
       return chains * std::fabs(at(row.s, j));
     },
     zero, nothing, 0.9},
    {"scale", &ArithmeticError::scale,
     [](const Row& row, Index j) { return std::fabs(distance(row, j)); }, zero, nothing, 0.9},
    // The maximum is at most M, the distance 2M and the raises as well: not all three can be.
    {"subtract", &ArithmeticError::subtract,
     [](const Row& row, Index j) { return row.of.bounded ? 0 : distance(row, j); }, zero, nothing,
     0.4},
    {"exp", &ArithmeticError::exp,
     [](const Row& row, Index j) { return 1.0 + static_cast<double>(row.raises_after(j)); }, zero,
     nothing, 0.9},
    {"multiply", &ArithmeticError::multiply,
     [](const Row& row, Index j) { return static_cast<double>(row.raises_after(j)); }, zero,
     nothing, 0.7},
    {"rounding", &ArithmeticError::rounding, nullptr,
     [](const Row& row) {
       double sum = 0;
       for (Index j = 0; j < row.keys(); ++j)
         sum += at(row.w, j) * std::fabs(at(row.v, j)) * roundings(j);
       return sum;
     },
     nothing, 0.7},
    {"weighted_sum", &ArithmeticError::weighted_sum, nullptr, absolute_sum, nothing, 0.9},
    {"total", &ArithmeticError::total, nullptr,
     [](const Row& row) {
       return static_cast<double>(row.spans()) * (absolute_sum(row) + output(row));
     },
     [](const Row& row, double w) { return static_cast<double>(row.spans()) * w; }, 0.9},
    {"sum", &ArithmeticError::sum, nullptr, output, once, 0.9},
    {"divide", &ArithmeticError::divide, nullptr, output, once, 0.9},
    // Each product of a score and of the weighted sum, and the quotient.
    {"underflow", &ArithmeticError::underflow,
     [](const Row& row, Index) { return std::sqrt(static_cast<double>(row.features())); },
     [](const Row& row) { return static_cast<double>(row.keys()) / row.sum + 1; },
     [](const Row& row, double) { return 1 / row.sum + 1; }, 0.9},
};

constexpr double kUnit = 0x1p-40;

double output_error(const Kind& kind, const Row& row) {
  double error = kind.of_output(row);
  if (kind.of_numerator != nullptr)
    for (Index j = 0; j < row.keys(); ++j)
      error += at(row.w, j) * kind.of_numerator(row, j) * std::fabs(at(row.v, j) - row.o);
  return error * kUnit;
}

/// Of all weights.
std::vector<double> weight_errors(const Kind& kind, const Row& row) {
  std::vector<double> errors;
  for (const double w : row.w) errors.push_back(kind.of_weight(row, w));
  if (kind.of_numerator != nullptr) {
    double all = 0;
    for (Index j = 0; j < row.keys(); ++j) all += at(row.w, j) * kind.of_numerator(row, j);
    for (Index j = 0; j < row.keys(); ++j)
      errors[static_cast<std::size_t>(j)] +=
          at(row.w, j) * (kind.of_numerator(row, j) * (1 - 2 * at(row.w, j)) + all);
  }
  for (double& error : errors) error *= kUnit;
  return errors;
}

/// The bound of the output and those of the weights.
struct Bounds {
  double output;
  std::vector<double> weights;
};

/// near    what is known of the near keys, or null: norms of all keys are
Bounds bounds_of(const ArithmeticError& arithmetic, const Row& row,
                 const NearKeys* near = nullptr) {
  std::vector<double> k;
  for (const double factor : row.of.factors)
    for (const double q_i : row.of.q) k.push_back(factor * q_i);
  const Array keys = matrix(row.keys(), row.features(), k), values = matrix(row.keys(), 1, row.v);
  const Array query = matrix(1, row.features(), row.of.q);
  const Head head = make_head(query, keys, values);
  const Norms norms = measure_norms(keys, values, 1);
  const RowBound bound =
      near == nullptr
          ? RowBound(arithmetic, head, norms, query_norms(norms, row.of.q.data()), row.of.bounded,
                     row.sum, row.squares)
          : RowBound(arithmetic, head, norms, *near, row.of.bounded, row.sum, row.squares);
  Bounds result{0, std::vector<double>(row.w.size())};
  const Index column = 0;
  bound.outputs({&column, 1}, &row.o, &result.output);
  bound.weights(row.keys(), row.w.data(), result.weights.data());
  return result;
}

/// All keys are near.
NearKeys all_near(const Row& row) {
  NearKeys near{KeySet(row.keys()), row.keys(), 1e5, 0};
  const double q_square =
      std::inner_product(row.of.q.begin(), row.of.q.end(), row.of.q.begin(), 0.0);
  for (const double factor : row.of.factors)
    near.products = std::max(near.products, q_square * std::fabs(factor));
  return near;
}

}  // namespace

TEST_CASE("bound: each kind of error alone is within what is allowed for it, and not far below",
          "[bound]") {
  const std::vector<Case> all = cases();
  for (const Kind& kind : kKinds) {
    INFO(kind.name);
    ArithmeticError arithmetic{};
    arithmetic.*kind.constant = kUnit;
    double largest_ratio = 0, largest_of_weights = 0;
    for (const Case& c : all) {
      INFO(c.name);
      const Row row(c);
      const Bounds bounds = bounds_of(arithmetic, row);
      const double error = output_error(kind, row);
      CHECK(error <= bounds.output * (1 + 1e-9));
      const NearKeys near = all_near(row);
      CHECK(error <= bounds_of(arithmetic, row, &near).output * (1 + 1e-9));
      if (bounds.output > 0) largest_ratio = std::max(largest_ratio, error / bounds.output);
      const std::vector<double> errors = weight_errors(kind, row);
      for (std::size_t j = 0; j < errors.size(); ++j) {
        if (!(errors[j] <= bounds.weights[j] * (1 + 1e-9))) {
          FAIL_CHECK("weight " << j << " off by " << errors[j] << " of " << bounds.weights[j]);
          break;
        }
        if (bounds.weights[j] > 0)
          largest_of_weights = std::max(largest_of_weights, errors[j] / bounds.weights[j]);
      }
    }
    std::printf("%-12s %.3f of the bound reached by outputs, %.3f by weights\n", kind.name,
                largest_ratio, largest_of_weights);
    CHECK(largest_ratio > kind.ratio);
  }
}

TEST_CASE("bound: where first orders do not suffice, nothing is claimed", "[bound]") {
  const Case equal{"", {1}, {1, 1}, true, alternating};
  const Row row(equal);
  ArithmeticError arithmetic{};
  arithmetic.exp = 0x1p-13;
  CHECK(bounds_of(arithmetic, row).output < 1);
  for (const double too_large : {0x1p-12, std::nan("")}) {
    arithmetic.exp = too_large;
    CHECK(!(bounds_of(arithmetic, row).output < HUGE_VAL));
    CHECK(!(bounds_of(arithmetic, row).weights[0] < HUGE_VAL));
  }
}

TEST_CASE("bound: an average of zeros is not off at all", "[bound]") {
  const Case equal{"", {1}, {1, 1}, true, [](Index) { return 0.0; }};
  CHECK(bounds_of(kernel::kFloat64Error, Row(equal)).output == 0);
  CHECK(bounds_of(kernel::kFloat32Error, Row(equal)).output == 0);
}

TEST_CASE("bound: keys that are not near have weights up to exp(-gap), or none", "[bound]") {
  // Taken with these weights, and away from the value of the first key.
  const Case far{
      "", {1}, std::vector<double>(64, -10), true, [](Index j) { return j == 0 ? 1.0 : -1.0; }};
  Case with_near = far;
  with_near.factors[0] = 0;
  const Row row(with_near);
  const NearKeys near{KeySet(64), 1, 10, 0};
  const Bounds bounds = bounds_of({}, row, &near);
  CHECK(1 - row.o <= bounds.output);
  CHECK(bounds.output <= 2.2 * (1 - row.o));
  CHECK(1 - row.w[0] <= bounds.weights[0]);
}

TEST_CASE("bound: keys that are not near may be all there is of an output", "[bound]") {
  // The near key has the value 0; the others are left out, or weigh exp(-gap) each.
  Case far{
      "", {1}, std::vector<double>(64, -10), true, [](Index j) { return j == 0 ? 0.0 : -1.0; }};
  far.factors[0] = 0;
  const Row row(far);
  const NearKeys near{KeySet(64), 1, 10, 0};
  const Bounds bounds = bounds_of({}, row, &near);
  CHECK(-row.o <= bounds.output);
  CHECK(bounds.output <= 2.2 * -row.o);
}
