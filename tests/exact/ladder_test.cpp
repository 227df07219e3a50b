#include "exact/ladder.h"
#include "base/parallel.h"
#include "catch.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <cstdio>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

Array normal_matrix(Random& random, Index rows, Index columns) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.normal();
  return matrix(rows, columns, values, Dtype::float32);
}

}  // namespace

TEST_CASE("ladder: few rows of normal data climb beyond float64", "[ladder]") {
  constexpr Index kQueries = 1024, kFeatures = 64;
  for (const Index T_k : {1024, 4096}) {
    Random random(1);
    const Array q = normal_matrix(random, kQueries, kFeatures);
    const Array k = normal_matrix(random, T_k, kFeatures);
    const Array v = normal_matrix(random, T_k, kFeatures);
    const Head head = make_head(q, k, v);
    const Norms norms = measure_norms(k, v, 1);
    const MeasuredRows all{{&head, 0, kQueries, 0}, &norms};
    Attention results = empty_results(kQueries, T_k, kFeatures, Dtype::float32, false);
    LadderCounts counts;
    exact_attention({&all, 1}, available_processors(), results, &counts);
    std::printf("T_k %td: of %td rows, %td climb to double-double, %td to real numbers\n", T_k,
                counts.float64, counts.double_double, counts.real);
    CHECK(counts.float64 == kQueries);
    CHECK(static_cast<double>(counts.double_double) < 0.03 * kQueries);
    // The bound of double-double is 2^-40 of float64's or so: none is expected to go on.
    CHECK(counts.real == 0);
  }
}

namespace {

/// How far the rows of q climb; all outputs are to be `expected`.
LadderCounts counts_of(const Array& q, const Array& k, const Array& v, Dtype dtype,
                       double expected) {
  const Head head = make_head(q, k, v);
  const Norms norms = measure_norms(k, v, 1);
  const MeasuredRows all{{&head, 0, head.n.T_q, 0}, &norms};
  Attention results = empty_results(head.n.T_q, head.n.T_k, head.n.d_v, dtype, false);
  LadderCounts counts;
  exact_attention({&all, 1}, 1, results, &counts);
  for (Index i = 0; i < head.n.T_q * head.n.d_v; ++i) CHECK(results.output.at(i) == expected);
  return counts;
}

}  // namespace

TEST_CASE("ladder: ties that the keys alone show need no real numbers", "[ladder]") {
  constexpr Index kQueries = 20, kFeatures = 16, kPairs = 100, kValues = 5;
  // Between 1 and the next float16, and between that and the one after: ties go to even.
  const double tie = GENERATE(1 + 0x1p-11, 1 + 0x3p-11);
  const double even = tie == 1 + 0x1p-11 ? 1 : 1 + 0x1p-9;
  Random random(3);
  const Array once = normal_matrix(random, kPairs, kFeatures);
  std::vector<double> keys, values;
  for (Index j = 0; j < 2 * kPairs; ++j) {
    for (Index i = 0; i < kFeatures; ++i) keys.push_back(once.at(j % kPairs * kFeatures + i));
    for (Index d = 0; d < kValues; ++d) {
      const double apart = static_cast<double>(j % kPairs + d) * 0x1p-13;
      values.push_back(j < kPairs ? tie + apart : tie - apart);
    }
  }
  const Array twice = matrix(2 * kPairs, kFeatures, keys, Dtype::float32);
  const Array all = normal_matrix(random, 2 * kPairs, kFeatures);
  const Array v = matrix(2 * kPairs, kValues, values, Dtype::float32);
  const Array q = normal_matrix(random, kQueries, kFeatures);
  const Array zeros =
      matrix(kQueries, kFeatures, std::vector<double>(kQueries * kFeatures), Dtype::float32);
  CHECK(counts_of(q, twice, v, Dtype::float16, even).real == 0);
  CHECK(counts_of(zeros, all, v, Dtype::float16, even).real == 0);
}
