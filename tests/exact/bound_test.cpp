// Compares the error bounds with the errors, on 50,000 outputs and as many weights and more; with
// SDPA_EXHAUSTIVE set, on a million.

#include "exact/bound.h"

#include "catch.h"
#include "exact/adversaries.h"
#include "exact/bound_operands.h"
#include "oracle/big.h"
#include "oracle/matrix.h"
#include "oracle/random.h"
#include "stage/stage.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

/// Errors of the truth itself are then far below those of double-double, whose unit is 2^-106.
constexpr mpfr_prec_t kPrecision = 300;

// ---- what is true ----

Big big(double x) {
  Big result(kPrecision);
  mpfr_set_d(result, x, MPFR_RNDN);
  return result;
}

/// sum_j factors[j] * numbers[j * stride]
Big weighted_sum(const std::vector<Big>& factors, const double* numbers, Index stride) {
  Big sum = big(0), number(53);
  for (const Big& factor : factors) {
    mpfr_set_d(number, *numbers, MPFR_RNDN);
    mpfr_fma(sum, factor, number, sum, MPFR_RNDN);
    numbers += stride;
  }
  return sum;
}

/// Outputs and weights of all rows, row by row.
struct Truth {
  std::vector<Big> outputs, weights;
};

Truth truth_of(const Operands& operands, const Extents& n) {
  const std::vector<double> q = values_of(operands.q), k = values_of(operands.k),
                            v = values_of(operands.v);
  Truth truth;
  Big root = big(static_cast<double>(n.d_k));
  mpfr_sqrt(root, root, MPFR_RNDN);
  for (Index t = 0; t < n.T_q; ++t) {
    std::vector<Big> q_t, w;
    for (Index i = 0; i < n.d_k; ++i)
      q_t.push_back(big(q[static_cast<std::size_t>(t * n.d_k + i)]));
    for (Index j = 0; j < n.T_k; ++j) w.push_back(weighted_sum(q_t, k.data() + j * n.d_k, 1));
    const Big largest = *std::max_element(
        w.begin(), w.end(), [](const Big& a, const Big& b) { return mpfr_less_p(a, b) != 0; });
    Big sum = big(0);
    for (Big& w_j : w) {
      mpfr_sub(w_j, w_j, largest, MPFR_RNDN);
      mpfr_div(w_j, w_j, root, MPFR_RNDN);
      mpfr_exp(w_j, w_j, MPFR_RNDN);
      mpfr_add(sum, sum, w_j, MPFR_RNDN);
    }
    for (Big& w_j : w) mpfr_div(w_j, w_j, sum, MPFR_RNDN);
    for (Index d = 0; d < n.d_v; ++d) truth.outputs.push_back(weighted_sum(w, v.data() + d, n.d_v));
    std::ranges::move(w, std::back_inserter(truth.weights));
  }
  return truth;
}

// ---- what the kernel says ----

/// One arithmetic of the kernel and its bounds.
struct Variant {
  const char* name;
  bool double_double, allow_bounded;

  const kernel::Kernel<double>& kernel() const {
    const kernel::InstructionSet& set = kernel::instruction_set();
    return double_double ? set.double_double : set.float64;
  }
};
const Variant kVariants[] = {{"float64", false, false},
                             {"float64, bounded", false, true},
                             {"double-double", true, false},
                             {"double-double, bounded", true, true}};

/// What was seen of many values: how many, how many had a finite bound, how many were off by more,
/// and the largest error as a fraction of its bound.
struct Seen {
  Index count = 0, finite = 0, wrong = 0;
  double largest = 0;

  /// low may be null.
  void see(const double* high, const double* low, const double* bounds, const Big* truth,
           Index values) {
    count += values;
    for (Index i = 0; i < values; ++i) {
      if (!std::isfinite(bounds[i])) continue;
      ++finite;
      Big error = big(high[i]);
      if (low != nullptr) mpfr_add_d(error, error, low[i], MPFR_RNDN);
      mpfr_sub(error, error, truth[i], MPFR_RNDN);
      mpfr_abs(error, error, MPFR_RNDN);
      if (mpfr_nan_p(error) != 0 || mpfr_cmp_d(error, bounds[i]) > 0) ++wrong;
      if (bounds[i] == 0) continue;
      mpfr_div_d(error, error, bounds[i], MPFR_RNDN);
      largest = std::max(largest, mpfr_get_d(error, MPFR_RNDN));
    }
  }
};

struct SeenOfVariant {
  Seen outputs, weights;
  Index bounded_rows = 0;
};

void see_problem(const Variant& variant, const Head& head, const Norms& norms, const Truth& truth,
                 SeenOfVariant& seen) {
  std::vector<Index> columns(static_cast<std::size_t>(head.n.d_v));
  std::iota(columns.begin(), columns.end(), Index{0});
  std::vector<RowTask> rows;
  std::vector<QueryNorms> queries;
  std::vector<double> q_t(static_cast<std::size_t>(head.n.d_k));
  for (Index t = 0; t < head.n.T_q; ++t) {
    head.q.read_rows(t, 1, q_t.data());
    const QueryNorms& query = queries.emplace_back(query_norms(norms, q_t.data()));
    rows.push_back({&head, t, t, columns,
                    variant.allow_bounded ? score_bound(head, norms, query.norm) : HUGE_VAL,
                    dot_power(norms, query.norm)});
  }

  const auto bound_of = [&](const StageRows<double>& results, std::size_t r) {
    return RowBound(variant.kernel().error, head, norms,
                    queries[static_cast<std::size_t>(results.rows[r].t)], results.bounded,
                    results.of_rows.sums[r], results.of_rows.squares[r]);
  };
  std::vector<double> bounds;
  StageSink<double> sink;
  sink.outputs = [&](const StageRows<double>& results) {
    bounds.resize(columns.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * head.n.d_v;
      bound_of(results, r).outputs(columns, results.o + at, bounds.data());
      seen.outputs.see(results.o + at, results.o_low == nullptr ? nullptr : results.o_low + at,
                       bounds.data(), truth.outputs.data() + results.rows[r].t * head.n.d_v,
                       head.n.d_v);
      seen.bounded_rows += results.bounded;
    }
  };
  sink.weights = [&](const StageRows<double>& results, const StageWeights<double>& block) {
    bounds.resize(static_cast<std::size_t>(block.keys));
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * block.stride;
      bound_of(results, r).weights(block.keys, block.w + at, bounds.data());
      seen.weights.see(
          block.w + at, block.w_low == nullptr ? nullptr : block.w_low + at, bounds.data(),
          truth.weights.data() + results.rows[r].t * head.n.T_k + block.first, block.keys);
    }
  };
  run_stage(variant.kernel(), rows, 1, sink);
}

void print(const char* kind, const char* variant, const SeenOfVariant& seen) {
  std::printf(
      "%-10s %-22s outputs %td, bound/error at least %.3g; weights %td, %.3g; %td and %td without "
      "bound; %td bounded rows\n",
      kind, variant, seen.outputs.count, 1 / seen.outputs.largest, seen.weights.count,
      1 / seen.weights.largest, seen.outputs.count - seen.outputs.finite,
      seen.weights.count - seen.weights.finite, seen.bounded_rows);
}

}  // namespace

TEST_CASE("bound: no error is larger than its bound", "[bound]") {
  const Index outputs_of_kind = (std::getenv("SDPA_EXHAUSTIVE") != nullptr ? 1'000'000 : 50'000) /
                                std::ssize(kVariants) / std::ssize(kKinds);
  Random random(1);
  for (const Kind& kind : kKinds) {
    SeenOfVariant seen[std::size(kVariants)];
    while (seen[0].outputs.count < outputs_of_kind)
      for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
        const Operands operands = kind.operands(random, dtype, random_sizes(random));
        const Head head = make_head(operands.q, operands.k, operands.v);
        const Norms norms = measure_norms(operands.k, operands.v, 1);
        const Truth truth = truth_of(operands, head.n);
        for (std::size_t i = 0; i < std::size(kVariants); ++i)
          see_problem(kVariants[i], head, norms, truth, seen[i]);
      }
    for (std::size_t i = 0; i < std::size(kVariants); ++i) {
      const auto& [outputs, weights, bounded_rows] = seen[i];
      print(kind.name, kVariants[i].name, seen[i]);
      INFO(kind.name << ", " << kVariants[i].name);
      CHECK(outputs.wrong == 0);
      CHECK(weights.wrong == 0);
      CHECK(2 * outputs.finite > outputs.count);
      CHECK((bounded_rows > 0) == kVariants[i].allow_bounded);
    }
  }
}

TEST_CASE("bound: adversaries come near it", "[bound]") {
  constexpr double kReached[] = {0.6, 0.06, 0.7, 0.4, 0.7};
  const Variant& variant = kVariants[1];
  std::size_t i = 0;
  for (const Adversary& adversary : adversaries()) {
    const Head head = make_head(adversary.q, adversary.k, adversary.v);
    const Norms norms = measure_norms(adversary.k, adversary.v, 1);
    SeenOfVariant seen;
    see_problem(variant, head, norms, truth_of({adversary.q, adversary.k, adversary.v}, head.n),
                seen);
    print(adversary.name.c_str(), variant.name, seen);
    INFO(adversary.name);
    CHECK(seen.outputs.wrong == 0);
    CHECK(seen.outputs.finite == seen.outputs.count);
    CHECK(seen.outputs.largest > kReached[i++]);
  }
}

// Errors of random numbers add up to far less than the worst that a bound must allow for; in
// float64 the distance decides how many rows need a second arithmetic. The factors are about twice
// the distances of this test, at most.
TEST_CASE("bound: of normal data, bounds are not far above the largest error", "[bound]") {
  constexpr double kFactors[] = {1500, 900, 120000, 180000};
  Random random(2);
  const Operands operands = normal_operands(random, Dtype::float32, {4, 1024, 64, 64}, 1);
  const Head head = make_head(operands.q, operands.k, operands.v);
  const Norms norms = measure_norms(operands.k, operands.v, 1);
  const Truth truth = truth_of(operands, head.n);
  for (std::size_t i = 0; i < std::size(kVariants); ++i) {
    SeenOfVariant seen;
    see_problem(kVariants[i], head, norms, truth, seen);
    print("normal", kVariants[i].name, seen);
    INFO(kVariants[i].name);
    CHECK(1 <= kFactors[i] * seen.outputs.largest);
  }
}
