#include "stage/stage.h"

#include "catch.h"
#include "kernel/kernel.h"

#include <cmath>
#include <set>
#include <vector>

using namespace sdpa;

namespace {

/// A head of one query on two keys, of one feature each.
Head head_of(const Array& q, const Array& k) {
  return make_head(MatrixView(q), MatrixView(k), MatrixView(k));
}

}  // namespace

TEST_CASE("stage: rows with the same k and v are one group, wherever they stand") {
  const Array q(Shape({1, 1}), Dtype::float32), k(Shape({2, 1}), Dtype::float32),
      other(Shape({2, 1}), Dtype::float32);
  // Two query heads that share a key head, each with two sequences.
  const std::vector<Head> heads = {head_of(q, k), head_of(q, other), head_of(q, k),
                                   head_of(q, other)};
  const std::vector<Index> columns = {0};
  std::vector<RowTask> rows;
  for (const Head& head : heads) rows.push_back({&head, 0, std::ssize(rows), columns, HUGE_VAL, 0});

  std::vector<std::set<Index>> groups;
  StageSink<float> sink;
  sink.outputs = [&](const StageRows<float>& results) {
    groups.emplace_back();
    for (const RowTask& row : results.rows) groups.back().insert(row.row);
  };
  run_stage(kernel::instruction_set().float32, rows, 1, sink);
  CHECK(groups == std::vector<std::set<Index>>{{0, 2}, {1, 3}});
}
