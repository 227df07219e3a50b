#include "exact/ladder.h"

#include "base/parallel.h"
#include "exact/big_float.h"
#include "exact/bound.h"
#include "exact/decide.h"
#include "exact/real_average.h"
#include "exact/real_scores.h"
#include "stage/stage.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <utility>

namespace sdpa {

namespace {

/// Values of a row that a step left undecided.
struct OpenRow {
  Index row;  // of the results
  std::vector<Index> outputs, weights;
};

class Ladder {
 public:
  Ladder(std::span<const MeasuredRows> parts, int threads, Attention& results)
      : dtype_(results.output.dtype()),
        threads_(threads),
        results_(results),
        rows_(static_cast<std::size_t>(results.output.shape()[0])),
        all_columns_(static_cast<std::size_t>(results.output.shape()[1])) {
    std::iota(all_columns_.begin(), all_columns_.end(), Index{0});
    for (const MeasuredRows& part : parts) measure_rows(part);
  }

  void climb(LadderCounts& counts) {
    const kernel::InstructionSet& set = kernel::instruction_set();
    std::vector<RowTask> tasks;
    for (const Row& row : rows_)
      if (row.norms != nullptr) tasks.push_back(row.task);

    if (dtype_ != Dtype::float64) {
      counts.float64 = std::ssize(tasks);
      run(set.float64, tasks);
      tasks.clear();
      for (const OpenRow& open : open_rows_) {
        tasks.push_back(row_of(open).task);
        tasks.back().columns = open.outputs;
      }
    }
    counts.double_double = std::ssize(tasks);
    const std::vector<OpenRow> before = std::exchange(open_rows_, {});
    run(set.double_double, tasks);
    counts.real = std::ssize(open_rows_);
    settle_open_rows();
  }

 private:
  /// What stays the same on the way up.
  struct Row {
    RowTask task;
    const Norms* norms = nullptr;  // null: not asked for
    QueryNorms query;
  };

  void measure_rows(const MeasuredRows& part) {
    const Head& head = *part.rows.head;
    std::vector<double> q_t(static_cast<std::size_t>(head.n.d_k));
    for (Index r = 0; r < part.rows.count; ++r) {
      head.q.read_rows(part.rows.first + r, 1, q_t.data());
      const QueryNorms query = query_norms(*part.norms, q_t.data());
      const Index row = part.rows.at + r;
      rows_[static_cast<std::size_t>(row)] = {
          {&head, part.rows.first + r, row, all_columns_,
           score_bound(head, *part.norms, query.norm), dot_power(*part.norms, query.norm)},
          part.norms,
          query};
    }
  }

  template <class Of>
  const Row& row_of(const Of& of) const {
    return rows_[static_cast<std::size_t>(of.row)];
  }

  /// Stores what the arithmetic decides of these rows; one with an undecided value becomes open.
  void run(const kernel::Kernel<double>& kernel, std::span<const RowTask> tasks) {
    StageSink<double> sink;
    sink.outputs = [&](const StageRows<double>& results) { take_outputs(results, kernel.error); };
    if (results_.weights)
      sink.weights = [&](const StageRows<double>& results, const StageWeights<double>& block) {
        take_weights(results, block, kernel.error);
      };
    run_stage(kernel, tasks, threads_, sink);

    std::ranges::sort(open_rows_, {}, &OpenRow::row);
    merge_open_rows();
  }

  RowBound bound_of(const StageRows<double>& results, std::size_t r,
                    const kernel::ArithmeticError& error) const {
    const Row& row = row_of(results.rows[r]);
    return RowBound(error, *row.task.head, *row.norms, row.query, results.bounded, results.sums[r],
                    results.squares[r]);
  }

  void take_outputs(const StageRows<double>& results, const kernel::ArithmeticError& error) {
    const Index count = std::ssize(results.columns);
    std::vector<double> errors(results.columns.size()), rounded(results.columns.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * count;
      const double* low = results.o_low == nullptr ? nullptr : results.o_low + at;
      bound_of(results, r, error).outputs(results.columns, results.o + at, errors.data());
      const Index open = decide(results.o + at, low, errors.data(), count, dtype_, rounded.data());
      const Index row = results.rows[r].row;
      if (count == std::ssize(all_columns_))
        store(results_.output, row, 0, rounded.data(), count);
      else
        for (std::size_t i = 0; i < rounded.size(); ++i)
          store(results_.output, row, results.columns[i], &rounded[i], 1);
      if (open != 0) {
        std::vector<Index> columns = undecided(rounded);
        for (Index& column : columns) column = results.columns[static_cast<std::size_t>(column)];
        add_open_row({row, std::move(columns), {}});
      }
    }
  }

  void take_weights(const StageRows<double>& results, const StageWeights<double>& block,
                    const kernel::ArithmeticError& error) {
    std::vector<double> errors(static_cast<std::size_t>(block.keys)), rounded(errors.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * block.stride;
      const double* low = block.w_low == nullptr ? nullptr : block.w_low + at;
      bound_of(results, r, error).weights(block.keys, block.w + at, errors.data());
      const Index open =
          decide(block.w + at, low, errors.data(), block.keys, dtype_, rounded.data());
      const Index row = results.rows[r].row;
      store(*results_.weights, row, block.first, rounded.data(), block.keys);
      if (open != 0) {
        std::vector<Index> keys = undecided(rounded);
        for (Index& key : keys) key += block.first;
        add_open_row({row, {}, std::move(keys)});
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
      if (merged.empty() || merged.back().row != row.row) {
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
      settle_row(open_rows_[static_cast<std::size_t>(i)]);
    });
  }

  void settle_row(const OpenRow& open) {
    const RowTask& task = row_of(open).task;
    const Head& head = *task.head;
    std::vector<Index> keys(static_cast<std::size_t>(head.n.T_k));
    std::iota(keys.begin(), keys.end(), Index{0});
    RealScores scores(head, task.t, keys);
    RealAverage average(scores, dtype_);
    std::vector<double> column(keys.size());
    for (Index d : open.outputs) {
      head.v.read_column(d, column.data());
      const double value = average.average(column);
      store(results_.output, open.row, d, &value, 1);
    }
    for (Index j : open.weights) {
      const double value = average.weight(j);
      store(*results_.weights, open.row, j, &value, 1);
    }
  }

  const Dtype dtype_;
  const int threads_;
  Attention& results_;
  std::vector<Row> rows_;  // of the results
  std::vector<Index> all_columns_;
  std::mutex mutex_;
  std::vector<OpenRow> open_rows_;
};

}  // namespace

void exact_attention(std::span<const MeasuredRows> parts, int threads, Attention& results,
                     LadderCounts* counts) {
  LadderCounts local;
  Ladder(parts, threads, results).climb(counts != nullptr ? *counts : local);
}

}  // namespace sdpa
