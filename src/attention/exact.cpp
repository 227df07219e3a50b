#include "attention/exact.h"

#include "attention/bound.h"
#include "attention/decide.h"
#include "attention/real.h"
#include "attention/real_row.h"
#include "attention/stage.h"
#include "base/parallel.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

namespace sdpa {

namespace {

/// Values of a row that a step left undecided.
struct OpenRow {
  Index t;
  std::vector<Index> outputs, weights;
};

class Ladder {
 public:
  Ladder(const Head& head, const Norms& norms, Dtype dtype, int threads, bool weights)
      : head_(head), norms_(norms), dtype_(dtype), threads_(threads) {
    result_.output = Array(Shape({head.n.T_q, head.n.d_v}), dtype);
    if (weights) result_.weights = Array(Shape({head.n.T_q, head.n.T_k}), dtype);
  }

  Attention climb(LadderCounts& counts) {
    const kernel::InstructionSet& set = kernel::instruction_set();
    std::vector<Index> all_columns(static_cast<std::size_t>(head_.n.d_v));
    std::iota(all_columns.begin(), all_columns.end(), Index{0});
    std::vector<RowTask> tasks;
    for (Index t = 0; t < head_.n.T_q; ++t) tasks.push_back({t, all_columns});

    if (dtype_ != Dtype::float64) {
      counts.float64 = std::ssize(tasks);
      run(set.float64, false, kFloat64Error, tasks);
      tasks.clear();
      for (const OpenRow& row : open_rows_) tasks.push_back({row.t, row.outputs});
    }
    counts.double_double = std::ssize(tasks);
    const std::vector<OpenRow> before = std::exchange(open_rows_, {});
    run(set.double_double, true, kDoubleDoubleError, tasks);
    counts.real = std::ssize(open_rows_);
    settle_open_rows();
    return std::move(result_);
  }

 private:
  /// Stores what the arithmetic decides of these rows; one with an undecided value becomes open.
  void run(const kernel::Kernel<double>& kernel, bool has_low, const ArithmeticError& error,
           std::span<const RowTask> tasks) {
    StageSink<double> sink;
    sink.outputs = [&](const StageRows<double>& results) { take_outputs(results, error); };
    if (result_.weights)
      sink.weights = [&](const StageRows<double>& results, const StageWeights<double>& block) {
        take_weights(results, block, error);
      };
    run_stage(kernel, has_low, true, head_, &norms_, tasks, threads_, sink);

    std::ranges::sort(open_rows_, {}, &OpenRow::t);
    merge_open_rows();
  }

  RowBound bound_of(const StageRows<double>& results, std::size_t r,
                    const ArithmeticError& error) const {
    return RowBound(error, head_, norms_, results.queries[r], results.bounded, results.sums[r],
                    results.squares[r]);
  }

  void take_outputs(const StageRows<double>& results, const ArithmeticError& error) {
    const Index count = std::ssize(results.columns);
    std::vector<double> errors(results.columns.size()), rounded(results.columns.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * count;
      const double* low = results.o_low == nullptr ? nullptr : results.o_low + at;
      bound_of(results, r, error).outputs(results.columns, results.o + at, errors.data());
      const Index open = decide(results.o + at, low, errors.data(), count, dtype_, rounded.data());
      const Index row = results.rows[r].t * head_.n.d_v;
      if (count == head_.n.d_v)
        store(result_.output, row, rounded.data(), count);
      else
        for (std::size_t i = 0; i < rounded.size(); ++i)
          store(result_.output, row + results.columns[i], &rounded[i], 1);
      if (open != 0) {
        std::vector<Index> columns = undecided(rounded);
        for (Index& column : columns) column = results.columns[static_cast<std::size_t>(column)];
        add_open_row({results.rows[r].t, std::move(columns), {}});
      }
    }
  }

  void take_weights(const StageRows<double>& results, const StageWeights<double>& block,
                    const ArithmeticError& error) {
    std::vector<double> errors(static_cast<std::size_t>(block.keys)), rounded(errors.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * block.stride;
      const double* low = block.w_low == nullptr ? nullptr : block.w_low + at;
      bound_of(results, r, error).weights(block.keys, block.w + at, errors.data());
      const Index open =
          decide(block.w + at, low, errors.data(), block.keys, dtype_, rounded.data());
      const Index t = results.rows[r].t;
      store(*result_.weights, t * head_.n.T_k + block.first, rounded.data(), block.keys);
      if (open != 0) {
        std::vector<Index> keys = undecided(rounded);
        for (Index& key : keys) key += block.first;
        add_open_row({t, {}, std::move(keys)});
      }
    }
  }

  static std::vector<Index> undecided(const std::vector<double>& rounded) {
    std::vector<Index> positions;
    for (std::size_t i = 0; i < rounded.size(); ++i)
      if (std::isnan(rounded[i])) positions.push_back(static_cast<Index>(i));
    return positions;
  }

  void add_open_row(OpenRow row) {
    std::lock_guard lock(mutex_);
    open_rows_.push_back(std::move(row));
  }

  /// Joins the entries of each row, which are neighbours.
  void merge_open_rows() {
    std::vector<OpenRow> merged;
    for (OpenRow& row : open_rows_) {
      if (merged.empty() || merged.back().t != row.t) {
        merged.push_back(std::move(row));
        continue;
      }
      merged.back().outputs.insert(merged.back().outputs.end(), row.outputs.begin(),
                                   row.outputs.end());
      merged.back().weights.insert(merged.back().weights.end(), row.weights.begin(),
                                   row.weights.end());
    }
    open_rows_ = std::move(merged);
  }

  void settle_open_rows() {
    parallel_for(threads_, std::ssize(open_rows_), [this](Index i) {
      free_reals_with_thread();
      const OpenRow& open = open_rows_[static_cast<std::size_t>(i)];
      RealRow row(head_, open.t);
      for (Index d : open.outputs) {
        const double value = row.output(d, dtype_);
        store(result_.output, open.t * head_.n.d_v + d, &value, 1);
      }
      for (Index j : open.weights) {
        const double value = row.weight(j, dtype_);
        store(*result_.weights, open.t * head_.n.T_k + j, &value, 1);
      }
    });
  }

  void store(Array& array, Index position, const double* values, Index count) const {
    store_rounded(values, count, dtype_, array.mutable_data() + position * size_bytes(dtype_));
  }

  const Head& head_;
  const Norms& norms_;
  const Dtype dtype_;
  const int threads_;
  Attention result_;
  std::mutex mutex_;
  std::vector<OpenRow> open_rows_;
};

}  // namespace

Attention exact_attention(const Head& head, const Norms& norms, Dtype dtype, int threads,
                          bool weights, LadderCounts* counts) {
  LadderCounts local;
  return Ladder(head, norms, dtype, threads, weights).climb(counts != nullptr ? *counts : local);
}

}  // namespace sdpa
