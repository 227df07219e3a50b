// End to end: no bound may be so small that a result on the wrong side of a midpoint is taken.

#include "exact/adversaries.h"

#include "attention/attention.h"
#include "catch.h"
#include "oracle/mpfr.h"
#include "stage/stage.h"

#include <cstdio>
#include <numeric>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

/// What the kernel makes of the columns in float64, rounded to float32 without asking for errors.
std::vector<float> float64_results(const Adversary& adversary) {
  const Head head = make_head(adversary.q, adversary.k, adversary.v);
  std::vector<Index> columns(static_cast<std::size_t>(head.n.d_v));
  std::iota(columns.begin(), columns.end(), Index{0});
  const RowTask row{&head, 0, 0, columns, 0, 0};
  std::vector<float> results;
  StageSink<double> sink;
  sink.outputs = [&](const StageRows<double>& rows) {
    results.assign(rows.o, rows.o + head.n.d_v);
  };
  run_stage(kernel::instruction_set().float64, {&row, 1}, 1, sink);
  return results;
}

}  // namespace

TEST_CASE("adversaries: float64 results on the wrong side of a midpoint are not taken",
          "[adversaries]") {
  for (const Adversary& adversary : adversaries()) {
    INFO(adversary.name);
    Settings settings;
    settings.dtype = Dtype::float32;
    const Attention got = attention(adversary.q, adversary.k, adversary.v, settings);
    const Attention expected =
        exact_attention(adversary.q, adversary.k, adversary.v, Dtype::float32);
    CHECK(same_bytes(got.output, expected.output));

    const std::vector<float> unproved = float64_results(adversary);
    Index wrong = 0;
    for (std::size_t d = 0; d < unproved.size(); ++d)
      wrong += static_cast<double>(unproved[d]) != expected.output.at(static_cast<Index>(d));
    std::printf("%s: %td of %zu float64 results wrong\n", adversary.name.c_str(), wrong,
                unproved.size());
    CHECK(wrong >= 10);
  }
}
