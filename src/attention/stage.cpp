#include "attention/stage.h"

#include "attention/bound.h"
#include "base/parallel.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

constexpr Index kKeys = kernel::kKeyBlock;

template <class Number>
constexpr Dtype kDtype = sizeof(Number) == 4 ? Dtype::float32 : Dtype::float64;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Memory that is written before it is read, and kept for the next use.
class Memory {
 public:
  void* hold(std::size_t bytes) {
    constexpr std::size_t kUnit = kernel::kAlignment;
    if (bytes > bytes_) {
      memory_.reset();  // before the larger one, not beside it
      bytes_ = 0;
      const std::size_t whole_units = (bytes + kUnit - 1) / kUnit * kUnit;
      memory_.reset(std::aligned_alloc(kUnit, whole_units));
      if (memory_ == nullptr) throw std::bad_alloc();
      bytes_ = whole_units;
    }
    return memory_.get();
  }
  void* get() const { return memory_.get(); }

 private:
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

template <class Number>
class Buffer {
 public:
  Number* hold(Index count) {
    return static_cast<Number*>(memory_.hold(static_cast<std::size_t>(count) * sizeof(Number)));
  }

 private:
  Memory memory_;
};

/// What a thread keeps from one group of queries to the next.
template <class Number>
struct Buffers {
  Buffer<Number> q, o, o_low, sums, squares, w, w_low;
  Buffer<Number> k, v, v_columns;  // a block
  std::vector<Memory> workspaces;  // that are not in use
};
template <class Number>
Buffers<Number>& buffers() {
  thread_local Buffers<Number> of_this_thread;
  return of_this_thread;
}

/// Rows of an array as Number: in place where they are that already, else copied to `buffer`.
template <class Number>
const Number* rows_as(const Array& array, Index first, Index count, Buffer<Number>& buffer) {
  const Index columns = array.shape().from_end(1);
  if (array.dtype() == kDtype<Number>)
    return reinterpret_cast<const Number*>(array.data()) + first * columns;
  Number* copy = buffer.hold(count * columns);
  read_elements(array, first * columns, count * columns, copy);
  return copy;
}

template <class Number>
const Number* keys_as(const Head& head, Index first, Index count) {
  return rows_as(head.k, first, count, buffers<Number>().k);
}

template <class Number>
const Number* values_as(const Head& head, Index first, Index count,
                        std::span<const Index> columns) {
  const Number* v = rows_as(head.v, first, count, buffers<Number>().v);
  if (std::ssize(columns) == head.n.d_v) return v;
  Number* const chosen = buffers<Number>().v_columns.hold(count * std::ssize(columns));
  Number* next = chosen;
  for (Index j = 0; j < count; ++j)
    for (Index d : columns) *next++ = v[j * head.n.d_v + d];
  return chosen;
}

Index span_count(const Head& head) {
  return (head.n.T_k + kernel::kKeySpan - 1) / kernel::kKeySpan;
}

/// Rows that the kernel takes at once.
template <class Number>
class QueryGroup {
 public:
  QueryGroup(const kernel::Kernel<Number>& kernel, bool has_low, bool allow_bounded,
             const Head& head, const Norms* norms, std::span<const RowTask> rows)
      : kernel_(kernel),
        has_low_(has_low),
        head_(head),
        rows_(rows),
        bounded_(allow_bounded),
        buffers_(buffers<Number>()) {
    read_queries(norms);
    gather_columns();
  }

  void run(int threads, const StageSink<Number>& sink) {
    const Index rows = std::ssize(rows_), outputs = rows * std::ssize(columns_);
    Number *o = buffers_.o.hold(outputs), *sums = buffers_.sums.hold(rows),
           *squares = buffers_.squares.hold(rows);
    Number* o_low = has_low_ ? buffers_.o_low.hold(outputs) : nullptr;
    Memory workspace = absorb_keys(threads);
    kernel_.finish(workspace.get(), o, o_low, sums, squares);
    const StageRows<Number> results{rows_, columns_, queries_.data(), bounded_, o,
                                    o_low, sums,     squares};
    sink.outputs(results);
    if (sink.weights) run_weights(workspace.get(), results, sink);
    buffers_.workspaces.push_back(std::move(workspace));
  }

 private:
  void read_queries(const Norms* norms) {
    const Index d_k = head_.n.d_k;
    q_ = buffers_.q.hold(std::ssize(rows_) * d_k);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      Number* q = q_ + static_cast<Index>(r) * d_k;
      read_elements(head_.q, rows_[r].t * d_k, d_k, q);
      if constexpr (kDtype<Number> == Dtype::float64)
        if (norms != nullptr) measure_query(*norms, q);
    }
  }

  void measure_query(const Norms& norms, const double* q) {
    const QueryNorms& query = queries_.emplace_back(query_norms(norms, q));
    dot_powers_.push_back(dot_power(norms, query.norm));
    bounded_ = bounded_ && score_bound(head_, norms, query.norm) <= kernel::kLargestBoundedScore;
  }

  void gather_columns() {
    for (const RowTask& row : rows_) {
      if (std::ssize(columns_) == head_.n.d_v) return;
      const std::vector<Index> before = std::exchange(columns_, {});
      std::ranges::set_union(before, row.columns, std::back_inserter(columns_));
    }
  }

  /// Each span in a workspace, merged into the first as soon as those before it are.
  Memory absorb_keys(int threads) {
    std::vector<Memory> spans(static_cast<std::size_t>(span_count(head_)));
    std::size_t merged = 0;
    std::mutex mutex;
    parallel_for(threads, std::ssize(spans), [&](Index span) {
      Memory workspace = absorb_span(span, take_workspace(mutex));
      const std::lock_guard lock(mutex);
      spans[static_cast<std::size_t>(span)] = std::move(workspace);
      for (; merged < spans.size() && spans[merged].get() != nullptr; ++merged) {
        if (merged == 0) continue;
        kernel_.merge(spans.front().get(), spans[merged].get());
        buffers_.workspaces.push_back(std::exchange(spans[merged], {}));
      }
    });
    return std::move(spans.front());
  }

  Memory take_workspace(std::mutex& mutex) {
    const std::lock_guard lock(mutex);
    if (buffers_.workspaces.empty()) return {};
    Memory workspace = std::move(buffers_.workspaces.back());
    buffers_.workspaces.pop_back();
    return workspace;
  }

  Memory absorb_span(Index span, Memory workspace) const {
    const Extents& n = head_.n;
    const Index count = std::ssize(rows_), d_v = std::ssize(columns_);
    workspace.hold(static_cast<std::size_t>(kernel_.workspace_bytes(count, n.d_k, d_v)));
    kernel_.begin(
        workspace.get(),
        {count, n.d_k, d_v, head_.scale_high, head_.scale_low, bounded_, dot_powers_.data()}, q_);
    const Index last = std::min((span + 1) * kernel::kKeySpan, n.T_k);
    for (Index j = span * kernel::kKeySpan; j < last; j += kKeys) {
      const Index keys = std::min(kKeys, last - j);
      kernel_.absorb(workspace.get(), keys_as<Number>(head_, j, keys),
                     values_as<Number>(head_, j, keys, columns_), keys);
    }
    return workspace;
  }

  void run_weights(void* workspace, const StageRows<Number>& results,
                   const StageSink<Number>& sink) const {
    const Index block = std::ssize(rows_) * kKeys;
    Number* w = buffers_.w.hold(block);
    Number* w_low = has_low_ ? buffers_.w_low.hold(block) : nullptr;
    for (Index j = 0; j < head_.n.T_k; j += kKeys) {
      const Index keys = std::min(kKeys, head_.n.T_k - j);
      kernel_.weights(workspace, keys_as<Number>(head_, j, keys), keys, w, w_low, kKeys);
      sink.weights(results, {j, keys, kKeys, w, w_low});
    }
  }

  const kernel::Kernel<Number>& kernel_;
  const bool has_low_;
  const Head& head_;
  const std::span<const RowTask> rows_;
  bool bounded_;
  Buffers<Number>& buffers_;  // of the thread that runs the group
  Number* q_ = nullptr;
  std::vector<QueryNorms> queries_;
  std::vector<double> dot_powers_;
  std::vector<Index> columns_;
};

/// Below this many multiplications a thread costs more than it brings.
constexpr Index kWorthAThread = 1 << 21;

}  // namespace

template <class Number>
void run_stage(const kernel::Kernel<Number>& kernel, bool has_low, bool allow_bounded,
               const Head& head, const Norms* norms, std::span<const RowTask> rows, int threads,
               const StageSink<Number>& sink) {
  const auto count = static_cast<Index>(rows.size());
  if (count == 0) return;
  const Index work = count * head.n.T_k * (head.n.d_k + head.n.d_v);
  const Index workers = std::clamp<Index>(work / kWorthAThread, 1, threads);

  // Few queries and many keys: threads share the keys of a group. Else the groups, as equal as
  // possible in whole vectors, and as many as the threads can share evenly.
  Index groups = (count + kernel.queries - 1) / kernel.queries;
  const bool share_keys = groups < workers && span_count(head) >= 2 * workers;
  const Index vectors = (count + kernel.lanes - 1) / kernel.lanes;
  if (!share_keys) groups = std::min(vectors, (groups + workers - 1) / workers * workers);
  parallel_for(static_cast<int>(share_keys ? 1 : workers), groups, [&](Index g) {
    const Index first = vectors * g / groups * kernel.lanes;
    const Index last = std::min(vectors * (g + 1) / groups * kernel.lanes, count);
    QueryGroup<Number> group(
        kernel, has_low, allow_bounded, head, norms,
        rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    group.run(static_cast<int>(share_keys ? workers : 1), sink);
  });
}

template void run_stage(const kernel::Kernel<float>&, bool, bool, const Head&, const Norms*,
                        std::span<const RowTask>, int, const StageSink<float>&);
template void run_stage(const kernel::Kernel<double>&, bool, bool, const Head&, const Norms*,
                        std::span<const RowTask>, int, const StageSink<double>&);

}  // namespace sdpa
