#include "attention/plain.h"

#include "attention/stage.h"

#include <numeric>
#include <vector>

namespace sdpa {

namespace {

template <class Number>
void store_as(const Number* values, Index count, Array& array, Index position) {
  store_rounded(values, count, array.dtype(),
                array.mutable_data() + position * size_bytes(array.dtype()));
}

template <class Number>
Attention run(const kernel::Kernel<Number>& kernel, const Head& head, Dtype dtype, int threads,
              bool weights) {
  const Extents& n = head.n;
  Attention result{Array(Shape({n.T_q, n.d_v}), dtype), std::nullopt};
  if (weights) result.weights = Array(Shape({n.T_q, n.T_k}), dtype);

  StageSink<Number> sink;
  sink.outputs = [&](const StageRows<Number>& rows) {
    for (std::size_t r = 0; r < rows.rows.size(); ++r)
      store_as(rows.o + static_cast<Index>(r) * n.d_v, n.d_v, result.output,
               rows.rows[r].t * n.d_v);
  };
  if (weights)
    sink.weights = [&](const StageRows<Number>& rows, const StageWeights<Number>& block) {
      for (std::size_t r = 0; r < rows.rows.size(); ++r)
        store_as(block.w + static_cast<Index>(r) * block.stride, block.keys, *result.weights,
                 rows.rows[r].t * n.T_k + block.first);
    };
  std::vector<Index> columns(static_cast<std::size_t>(n.d_v));
  std::iota(columns.begin(), columns.end(), Index{0});
  std::vector<RowTask> rows;
  for (Index t = 0; t < n.T_q; ++t) rows.push_back({t, columns});
  run_stage(kernel, false, false, head, nullptr, rows, threads, sink);
  return result;
}

}  // namespace

Attention plain_attention(const Head& head, Precision precision, Dtype dtype, int threads,
                          bool weights) {
  const kernel::InstructionSet& set = kernel::instruction_set();
  if (precision == Precision::float32) return run(set.float32, head, dtype, threads, weights);
  return run(set.float64, head, dtype, threads, weights);
}

}  // namespace sdpa
