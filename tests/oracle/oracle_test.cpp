#include "catch.h"
#include "oracle/golden.h"
#include "oracle/matrix.h"
#include "oracle/mpfr.h"

using namespace sdpa;
using namespace sdpa::oracle;

TEST_CASE("oracle: every golden case comes out bit for bit") {
  const std::vector<GoldenCase> cases = golden_cases();
  REQUIRE(cases.size() > 100);
  for (const GoldenCase& golden : cases) {
    INFO(golden.name);
    const Attention result = exact_attention(golden.q, golden.k, golden.v, golden.dtype);
    CHECK(same_bytes(result.output, golden.output));
    if (golden.weights) CHECK(same_bytes(*result.weights, *golden.weights));
  }
}
