#include "attention/exact.h"

#include "attention/bound.h"
#include "attention/decide.h"
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
  Ladder(const Head& head, Dtype dtype, int threads, bool weights)
      : head_(head), dtype_(dtype), threads_(threads) {
    result_.output = Array(Shape({head.n.T_q, head.n.d_v}), dtype);
    if (weights) result_.weights = Array(Shape({head.n.T_q, head.n.T_k}), dtype);
  }

  Attention climb(LadderCounts& counts) {
    const kernel::InstructionSet& set = kernel::instruction_set();
    std::vector<Index> rows(static_cast<std::size_t>(head_.n.T_q));
    std::iota(rows.begin(), rows.end(), Index{0});
    if (dtype_ != Dtype::float64) {
      counts.float64 = std::ssize(rows);
      rows = run(set.float64, false, kFloat64Error, rows);
    }
    counts.double_double = std::ssize(rows);
    rows = run(set.double_double, true, kDoubleDoubleError, rows);
    counts.real = std::ssize(rows);
    settle_open_rows();
    return std::move(result_);
  }

 private:
  /// Stores what the arithmetic decides for these rows and returns those with an undecided value.
  std::vector<Index> run(const kernel::Kernel<double>& kernel, bool has_low,
                         const ArithmeticError& error, const std::vector<Index>& rows) {
    open_rows_.clear();
    StageSink<double> sink;
    sink.outputs = [&](const StageRows<double>& results) { take_outputs(results, error); };
    if (result_.weights)
      sink.weights = [&](const StageRows<double>& results, const StageWeights<double>& block) {
        take_weights(results, block, error);
      };
    run_stage(kernel, has_low, true, head_, rows, threads_, sink);

    std::ranges::sort(open_rows_, {}, &OpenRow::t);
    merge_open_rows();
    std::vector<Index> open;
    for (const OpenRow& row : open_rows_) open.push_back(row.t);
    return open;
  }

  RowBound bound_of(const StageRows<double>& results, std::size_t r,
                    const ArithmeticError& error) const {
    return RowBound(error, head_, results.q_norms[r], results.bounded, results.sums[r],
                    results.squares[r]);
  }

  void take_outputs(const StageRows<double>& results, const ArithmeticError& error) {
    const Index d_v = head_.n.d_v;
    std::vector<double> errors(static_cast<std::size_t>(d_v)), rounded(errors.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const double* o_t = results.o + static_cast<Index>(r) * d_v;
      const double* low =
          results.o_low == nullptr ? nullptr : results.o_low + static_cast<Index>(r) * d_v;
      bound_of(results, r, error).outputs(o_t, errors.data());
      const Index open = decide(o_t, low, errors.data(), d_v, dtype_, rounded.data());
      const Index t = results.rows[r];
      store_rounded(rounded.data(), d_v, dtype_,
                    result_.output.mutable_data() + t * d_v * size_bytes(dtype_));
      if (open != 0) add_open_row({t, undecided(rounded, 0), {}});
    }
  }

  void take_weights(const StageRows<double>& results, const StageWeights<double>& block,
                    const ArithmeticError& error) {
    std::vector<double> errors(static_cast<std::size_t>(block.keys)), rounded(errors.size());
    for (std::size_t r = 0; r < results.rows.size(); ++r) {
      const double* w = block.w + static_cast<Index>(r) * block.stride;
      const double* low =
          block.w_low == nullptr ? nullptr : block.w_low + static_cast<Index>(r) * block.stride;
      const RowBound bound = bound_of(results, r, error);
      std::transform(w, w + block.keys, errors.begin(), [&](double x) { return bound.weight(x); });
      const Index open = decide(w, low, errors.data(), block.keys, dtype_, rounded.data());
      const Index t = results.rows[r];
      store_rounded(
          rounded.data(), block.keys, dtype_,
          result_.weights->mutable_data() + (t * head_.n.T_k + block.first) * size_bytes(dtype_));
      if (open != 0) add_open_row({t, {}, undecided(rounded, block.first)});
    }
  }

  static std::vector<Index> undecided(const std::vector<double>& rounded, Index first) {
    std::vector<Index> positions;
    for (std::size_t i = 0; i < rounded.size(); ++i)
      if (std::isnan(rounded[i])) positions.push_back(first + static_cast<Index>(i));
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
      const OpenRow& open = open_rows_[static_cast<std::size_t>(i)];
      RealRow row(head_, open.t);
      for (Index d : open.outputs)
        store(result_.output, open.t * head_.n.d_v + d, row.output(d, dtype_));
      for (Index j : open.weights)
        store(*result_.weights, open.t * head_.n.T_k + j, row.weight(j, dtype_));
    });
  }

  void store(Array& array, Index position, double value) const {
    store_rounded(&value, 1, dtype_, array.mutable_data() + position * size_bytes(dtype_));
  }

  const Head& head_;
  const Dtype dtype_;
  const int threads_;
  Attention result_;
  std::mutex mutex_;
  std::vector<OpenRow> open_rows_;
};

}  // namespace

Attention exact_attention(const Head& head, Dtype dtype, int threads, bool weights,
                          LadderCounts* counts) {
  LadderCounts local;
  return Ladder(head, dtype, threads, weights).climb(counts != nullptr ? *counts : local);
}

}  // namespace sdpa
