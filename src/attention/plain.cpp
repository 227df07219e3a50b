#include "attention/plain.h"

#include "stage/stage.h"

#include <cmath>
#include <numeric>
#include <vector>

namespace sdpa {

namespace {

template <class Number>
void run(const kernel::Kernel<Number>& kernel, std::span<const HeadRows> parts, int threads,
         Attention& results) {
  const Index d_v = results.output.shape()[1];
  std::vector<Index> columns(static_cast<std::size_t>(d_v));
  std::iota(columns.begin(), columns.end(), Index{0});
  std::vector<RowTask> tasks;
  for (const HeadRows& part : parts)
    for (Index r = 0; r < part.count; ++r)
      tasks.push_back({part.head, part.first + r, part.at + r, columns, HUGE_VAL, 0});

  StageSink<Number> sink;
  sink.outputs = [&](const StageRows<Number>& rows) {
    const Number* o_t = rows.o;
    for (const RowTask& task : rows.rows) {
      store(results.output, task.row, 0, o_t, d_v);
      o_t += d_v;
    }
  };
  if (results.weights)
    sink.weights = [&](const StageRows<Number>& rows, const StageWeights<Number>& block) {
      const Number* w_t = block.w;
      for (const RowTask& task : rows.rows) {
        store(*results.weights, task.row, block.first, w_t, block.keys);
        w_t += block.stride;
      }
    };
  run_stage(kernel, tasks, threads, sink);
}

}  // namespace

void plain_attention(std::span<const HeadRows> parts, Precision precision, int threads,
                     Attention& results) {
  const kernel::InstructionSet& set = kernel::instruction_set();
  if (precision == Precision::float32) return run(set.float32, parts, threads, results);
  run(set.float64, parts, threads, results);
}

}  // namespace sdpa
