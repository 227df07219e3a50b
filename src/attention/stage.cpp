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
using Workspace = std::unique_ptr<void, Free>;

Workspace allocate_workspace(Index bytes) {
  const auto alignment = static_cast<Index>(kernel::kAlignment);
  const Index size = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(kernel::kAlignment, static_cast<std::size_t>(size));
  if (memory == nullptr) throw std::bad_alloc();
  return Workspace(memory);
}

/// Rows of an array as Number: in place where they are that already, else copied to `buffer`.
template <class Number>
const Number* rows_as(const Array& array, Index first, Index count, std::vector<Number>& buffer) {
  const Index columns = array.shape().from_end(1);
  if (array.dtype() == kDtype<Number>)
    return reinterpret_cast<const Number*>(array.data()) + first * columns;
  buffer.resize(static_cast<std::size_t>(count * columns));
  read_elements(array, first * columns, count * columns, buffer.data());
  return buffer.data();
}

Index span_count(const Head& head) {
  return (head.n.T_k + kernel::kKeySpan - 1) / kernel::kKeySpan;
}

/// Blocks of k and v as Number. Each thread has its own.
template <class Number>
class Blocks {
 public:
  explicit Blocks(const Head& head) : head_(head) {}

  const Number* keys(Index first, Index count) { return rows_as(head_.k, first, count, k_); }

  const Number* values(Index first, Index count, std::span<const Index> columns) {
    const Number* v = rows_as(head_.v, first, count, v_);
    if (std::ssize(columns) == head_.n.d_v) return v;
    v_columns_.clear();
    for (Index j = 0; j < count; ++j)
      for (Index d : columns) v_columns_.push_back(v[j * head_.n.d_v + d]);
    return v_columns_.data();
  }

 private:
  const Head& head_;
  std::vector<Number> k_, v_, v_columns_;
};

/// Rows that the kernel takes at once.
template <class Number>
class QueryGroup {
 public:
  QueryGroup(const kernel::Kernel<Number>& kernel, bool has_low, bool allow_bounded,
             const Head& head, const Norms* norms, std::span<const RowTask> rows)
      : kernel_(kernel), has_low_(has_low), head_(head), rows_(rows), bounded_(allow_bounded) {
    read_queries(norms);
    gather_columns();
  }

  void run(int threads, const StageSink<Number>& sink) {
    const auto outputs = rows_.size() * columns_.size();
    std::vector<Number> o(outputs), o_low(has_low_ ? outputs : 0), sums(rows_.size()),
        squares(rows_.size());
    const Workspace workspace = absorb_keys(threads);
    kernel_.finish(workspace.get(), o.data(), o_low.data(), sums.data(), squares.data());
    const StageRows<Number> results{rows_,    columns_,   queries_.data(), bounded_,
                                    o.data(), low(o_low), sums.data(),     squares.data()};
    sink.outputs(results);
    if (sink.weights) run_weights(workspace, results, sink);
  }

 private:
  void read_queries(const Norms* norms) {
    const Index d_k = head_.n.d_k;
    q_.resize(rows_.size() * static_cast<std::size_t>(d_k));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      Number* q = q_.data() + static_cast<Index>(r) * d_k;
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
  Workspace absorb_keys(int threads) const {
    std::vector<Workspace> spans(static_cast<std::size_t>(span_count(head_)));
    std::size_t merged = 0;
    std::mutex mutex;
    parallel_for(threads, std::ssize(spans), [&](Index span) {
      Workspace workspace = absorb_span(span);
      const std::lock_guard lock(mutex);
      spans[static_cast<std::size_t>(span)] = std::move(workspace);
      for (; merged < spans.size() && spans[merged] != nullptr; ++merged) {
        if (merged == 0) continue;
        kernel_.merge(spans.front().get(), spans[merged].get());
        spans[merged].reset();
      }
    });
    return std::move(spans.front());
  }

  Workspace absorb_span(Index span) const {
    const Extents& n = head_.n;
    const auto count = std::ssize(rows_), d_v = std::ssize(columns_);
    Workspace workspace = allocate_workspace(kernel_.workspace_bytes(count, n.d_k, d_v));
    kernel_.begin(
        workspace.get(),
        {count, n.d_k, d_v, head_.scale_high, head_.scale_low, bounded_, dot_powers_.data()},
        q_.data());
    Blocks<Number> blocks(head_);
    const Index last = std::min((span + 1) * kernel::kKeySpan, n.T_k);
    for (Index j = span * kernel::kKeySpan; j < last; j += kKeys) {
      const Index keys = std::min(kKeys, last - j);
      kernel_.absorb(workspace.get(), blocks.keys(j, keys), blocks.values(j, keys, columns_), keys);
    }
    return workspace;
  }

  void run_weights(const Workspace& workspace, const StageRows<Number>& results,
                   const StageSink<Number>& sink) const {
    const auto block = rows_.size() * kKeys;
    std::vector<Number> w(block), w_low(has_low_ ? block : 0);
    Blocks<Number> blocks(head_);
    for (Index j = 0; j < head_.n.T_k; j += kKeys) {
      const Index keys = std::min(kKeys, head_.n.T_k - j);
      kernel_.weights(workspace.get(), blocks.keys(j, keys), keys, w.data(), w_low.data(), kKeys);
      sink.weights(results, {j, keys, kKeys, w.data(), low(w_low)});
    }
  }

  const Number* low(const std::vector<Number>& values) const {
    return has_low_ ? values.data() : nullptr;
  }

  const kernel::Kernel<Number>& kernel_;
  const bool has_low_;
  const Head& head_;
  const std::span<const RowTask> rows_;
  bool bounded_;
  std::vector<Number> q_;
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
  // possible, and as many as the threads can share evenly.
  Index groups = (count + kernel.queries - 1) / kernel.queries;
  const bool share_keys = groups < workers && span_count(head) >= 2 * workers;
  if (!share_keys) groups = std::min(count, (groups + workers - 1) / workers * workers);
  parallel_for(static_cast<int>(share_keys ? 1 : workers), groups, [&](Index g) {
    const Index first = count * g / groups, last = count * (g + 1) / groups;
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
