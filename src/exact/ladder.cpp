#include "exact/ladder.h"

#include "base/error.h"
#include "base/parallel.h"
#include "exact/bound.h"
#include "exact/common_mean.h"
#include "exact/decide.h"
#include "exact/known_rows.h"
#include "exact/open_rows.h"
#include "exact/real_row.h"
#include "stage/stage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace sdpa {

namespace {

class Ladder {
 public:
  Ladder(std::span<const MeasuredRows> parts, int threads, Attention& results)
      : dtype_(results.output.dtype()),
        threads_(threads),
        results_(results),
        all_columns_(columns(results.output.shape()[1])),
        rows_(parts, results.output.shape()[0], all_columns_, dtype_) {}

  void climb(LadderCounts& counts) {
    const kernel::InstructionSet& set = kernel::instruction_set();
    std::vector<RowTask> tasks = rows_.tasks();

    std::vector<OpenRow> open;
    if (dtype_ != Dtype::float64) {
      look_for_near_keys(tasks, set.float64.error);
      counts.float64 = std::ssize(tasks);
      run(set.float64, tasks, threads_, nullptr);
      open = open_rows_.take();
      settle_constant_columns(open);
      tasks.clear();
      for (const OpenRow& row : open) {
        tasks.push_back(rows_[row.row].task);
        tasks.back().columns = row.outputs;
      }
    }
    look_for_near_keys(tasks, set.double_double.error);
    counts.double_double = std::ssize(tasks);
    run_by_near_keys(set.double_double, tasks);
    std::vector<OpenRow> last = open_rows_.take();
    settle_level_columns(last);
    counts.real = std::ssize(last);
    parallel_for(threads_, std::ssize(last),
                 [&](Index i) { settle_row(last[static_cast<std::size_t>(i)]); });
  }

 private:
  static std::vector<Index> columns(Index d_v) {
    std::vector<Index> all(static_cast<std::size_t>(d_v));
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }

  /// Rows with only one near key are settled, and taken out of the tasks.
  void look_for_near_keys(std::vector<RowTask>& tasks, const kernel::ArithmeticError& error) {
    rows_.look_for_near_keys(tasks, error, threads_);
    std::erase_if(tasks, [this](const RowTask& task) { return settle_single_key(task); });
  }

  /// Where one key alone is near, its value is the output up to what the others weigh.
  bool settle_single_key(const RowTask& task) {
    const KnownRow& row = rows_[task.row];
    if (!row.near || row.near->count != 1) return false;
    const Head& head = *task.head;
    const Index j = row.near->keys.keys()[0];
    const double left = left_out(head, *row.near);
    std::vector<double> v_j(all_columns_.size()), errors;
    head.v.read_rows(j, 1, v_j.data());
    for (double largest : row.norms->v_largest) errors.push_back(2 * left * largest);
    OpenRow open{task.row, {}, {}};
    for (Index d : task.columns) {
      const auto column = static_cast<std::size_t>(d);
      double value;
      if (decide(&v_j[column], nullptr, &errors[column], 1, dtype_, &value) != 0)
        open.outputs.push_back(d);
      store(results_.output, task.row, d, &value, 1);
    }
    if (results_.weights) {
      // 1 - left rounds to 1.
      std::vector<double> w(static_cast<std::size_t>(head.n.T_k));
      w[static_cast<std::size_t>(j)] = 1;
      store(*results_.weights, task.row, 0, w.data(), std::ssize(w));
    }
    if (!open.outputs.empty()) open_rows_.add(std::move(open));
    return true;
  }

  /// Runs rows whose near keys are known on these only, rows with the same ones together.
  void run_by_near_keys(const kernel::Kernel<double>& kernel, std::span<const RowTask> tasks) {
    std::vector<RowTask> others;
    std::map<std::pair<const Head*, KeySet>, std::vector<RowTask>> groups;
    for (RowTask task : tasks) {
      const KnownRow& row = rows_[task.row];
      if (!row.near) {
        others.push_back(task);
        continue;
      }
      task.largest_score = score_bound(*task.head, *row.near);
      task.dot_power = dot_power(*row.near);
      groups[{task.head, row.near->keys}].push_back(task);
    }
    run(kernel, others, threads_, nullptr);

    std::vector<std::vector<RowTask>*> list;
    for (auto& [keys, rows] : groups) list.push_back(&rows);
    const bool share_groups = std::ssize(list) >= threads_;
    parallel_for(share_groups ? threads_ : 1, std::ssize(list), [&](Index g) {
      std::vector<RowTask>& rows = *list[static_cast<std::size_t>(g)];
      const std::vector<Index> keys = rows_[rows[0].row].near->keys.keys();
      const Head& head = *rows[0].head;
      const bool every_key = std::ssize(keys) == head.n.T_k;
      const Head near = every_key ? head : with_keys(head, keys);
      const std::vector<double> zeros(static_cast<std::size_t>(head.n.T_k));
      for (RowTask& row : rows) {
        row.head = &near;
        if (results_.weights) store(*results_.weights, row.row, 0, zeros.data(), std::ssize(zeros));
      }
      run(kernel, rows, share_groups ? 1 : threads_, every_key ? nullptr : &keys);
    });
  }

  /// Stores what the arithmetic decides of these rows; one with an undecided value becomes open.
  /// keys   of the whole head, those of the tasks' head; null if it has them all
  void run(const kernel::Kernel<double>& kernel, std::span<const RowTask> tasks, int threads,
           const std::vector<Index>* keys) {
    StageSink<double> sink;
    sink.outputs = [&](const StageRows<double>& results) { take_outputs(results, kernel.error); };
    if (results_.weights)
      sink.weights = [&](const StageRows<double>& results, const StageWeights<double>& block) {
        take_weights(results, block, kernel.error, keys);
      };
    run_stage(kernel, tasks, threads, sink);
  }

  void take_outputs(const StageRows<double>& results, const kernel::ArithmeticError& error) {
    const Index count = std::ssize(results.columns);
    std::vector<double> errors(results.columns.size()), rounded(results.columns.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * count;
      const double* low = results.o_low == nullptr ? nullptr : results.o_low + at;
      rows_.bound(results, r, error).outputs(results.columns, results.o + at, errors.data());
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
        open_rows_.add({row, std::move(columns), {}});
      }
    }
  }

  void take_weights(const StageRows<double>& results, const StageWeights<double>& block,
                    const kernel::ArithmeticError& error, const std::vector<Index>* all_keys) {
    std::vector<double> errors(static_cast<std::size_t>(block.keys)), rounded(errors.size());
    const auto key = [&](Index at) {
      return all_keys == nullptr ? block.first + at
                                 : (*all_keys)[static_cast<std::size_t>(block.first + at)];
    };
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const Index at = static_cast<Index>(r) * block.stride;
      const double* low = block.w_low == nullptr ? nullptr : block.w_low + at;
      rows_.bound(results, r, error).weights(block.keys, block.w + at, errors.data());
      decide(block.w + at, low, errors.data(), block.keys, dtype_, rounded.data());
      const RowTask& task = results.rows[r];
      const Index row = task.row;
      if (!task.head->visible.is_everything()) decide_hidden(task, block, rounded);
      if (const auto& near = rows_[row].near; near && all_keys == nullptr)
        for (Index i = 0; i < block.keys; ++i)
          if (!near->keys.contains(key(i))) rounded[static_cast<std::size_t>(i)] = 0;
      if (all_keys == nullptr)
        store(*results_.weights, row, block.first, rounded.data(), block.keys);
      else
        for (Index i = 0; i < block.keys; ++i)
          store(*results_.weights, row, key(i), &rounded[static_cast<std::size_t>(i)], 1);
      std::vector<Index> open = undecided(rounded);
      for (Index& position : open) position = key(position);
      if (!open.empty()) open_rows_.add({row, {}, std::move(open)});
    }
  }

  /// The weights of hidden keys are zeros.
  static void decide_hidden(const RowTask& task, const StageWeights<double>& block,
                            std::vector<double>& rounded) {
    std::uint32_t flags[kernel::kKeyBlock / kWordKeys];
    task.head->visible.flags(task.t, block.first, block.keys, flags);
    for (Index j = 0; j < block.keys; ++j)
      if ((flags[j / kWordKeys] >> (j % kWordKeys) & 1) == 0)
        rounded[static_cast<std::size_t>(j)] = 0;
  }

  static std::vector<Index> undecided(const std::vector<double>& rounded) {
    std::vector<Index> positions;
    for (std::size_t i = 0; i < rounded.size(); ++i)
      if (std::isnan(rounded[i])) positions.push_back(static_cast<Index>(i));
    return positions;
  }

  /// Settles outputs of which the column alone tells the value, whatever the weights are.
  /// average(head, zero, column)   that value, if there is one; zero: where the row of q is
  template <class Average>
  void settle_columns(std::vector<OpenRow>& rows, const Average& average) {
    std::map<std::tuple<const Head*, bool, Index>, std::optional<double>> averages;
    for (OpenRow& open : rows) {
      const KnownRow& row = rows_[open.row];
      const Head& head = *row.task.head;
      if (!head.visible.is_everything() || head.has_sink()) continue;
      std::erase_if(open.outputs, [&](Index d) {
        const auto [known, is_new] = averages.try_emplace({&head, row.is_zero, d});
        if (is_new) known->second = average(head, row.is_zero, d);
        if (known->second) store(results_.output, open.row, d, &*known->second, 1);
        return known->second.has_value();
      });
    }
    std::erase_if(rows,
                  [](const OpenRow& row) { return row.outputs.empty() && row.weights.empty(); });
  }

  /// A column of v that holds one value only is its own average.
  void settle_constant_columns(std::vector<OpenRow>& rows) {
    settle_columns(rows, [this](const Head& head, bool, Index d) -> std::optional<double> {
      for (Index j = 1; j < head.n.T_k; ++j)
        if (head.v.at(j, d) != head.v.at(0, d)) return std::nullopt;
      return round_sum(head.v.at(0, d), 0, dtype_);
    });
  }

  /// The same where keys of equal scores have the same mean as all others.
  void settle_level_columns(std::vector<OpenRow>& rows) {
    std::map<std::pair<const Head*, bool>, EqualRows> equal;
    std::vector<double> column;
    settle_columns(rows, [&](const Head& head, bool zero, Index d) {
      auto keys = equal.find({&head, zero});
      if (keys == equal.end()) keys = equal.try_emplace({&head, zero}, head.k, zero).first;
      column.resize(static_cast<std::size_t>(head.n.T_k));
      head.v.read_column(d, column.data());
      return common_mean(column, keys->second.order(), keys->second.groups(), dtype_);
    });
  }

  void settle_row(const OpenRow& open) {
    try {
      settle_real_row(open);
    } catch (const Error& error) {
      throw Error("query " + std::to_string(rows_[open.row].task.t) + " of a head", error.what());
    }
  }

  void settle_real_row(const OpenRow& open) {
    const KnownRow& row = rows_[open.row];
    RealRow real(*row.task.head, row.task.t, dtype_);
    for (Index d : open.outputs) {
      const double value = real.output(d);
      store(results_.output, open.row, d, &value, 1);
    }
    if (open.weights.empty()) return;
    if (!row.task.head->is_plain()) {
      for (Index j : open.weights) {
        const double value = real.weight(j);
        store(*results_.weights, open.row, j, &value, 1);
      }
      return;
    }
    const KeySet near =
        row.near
            ? row.near->keys
            : near_keys(*row.task.head, *row.norms, {&row.task.t, 1}, gap_of_zero(dtype_))[0].keys;
    for (Index j : open.weights) {
      const double value = near.contains(j) ? real.weight(j) : 0;
      store(*results_.weights, open.row, j, &value, 1);
    }
  }

  const Dtype dtype_;
  const int threads_;
  Attention& results_;
  const std::vector<Index> all_columns_;
  KnownRows rows_;
  OpenRows open_rows_;
};

}  // namespace

void exact_attention(std::span<const MeasuredRows> parts, int threads, Attention& results,
                     LadderCounts* counts) {
  LadderCounts local;
  Ladder(parts, threads, results).climb(counts != nullptr ? *counts : local);
}

}  // namespace sdpa
