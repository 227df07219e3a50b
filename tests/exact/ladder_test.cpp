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
