#include "attention/stage.h"

#include "attention/bound.h"
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <memory>
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

/// What one thread needs.
template <class Number>
class Worker {
 public:
  Worker(const kernel::Kernel<Number>& kernel, bool has_low, bool allow_bounded, const Head& head,
         const StageSink<Number>& sink)
      : kernel_(kernel),
        has_low_(has_low),
        allow_bounded_(allow_bounded),
        head_(head),
        sink_(sink),
        workspace_(allocate_workspace(kernel.workspace_bytes(head.n.d_k, head.n.d_v))) {}

  void run(std::span<const RowTask> rows) {
    const Extents& n = head_.n;
    const auto count = static_cast<Index>(rows.size());
    read_queries(rows);
    gather_columns(rows);
    const Index d_v = std::ssize(columns_);
    bool bounded = allow_bounded_;
    for (const QueryFacts& query : queries_)
      bounded = bounded && score_bound(head_, query.norm) <= kernel::kLargestBoundedScore;
    const kernel::Question question{count, n.d_k, d_v, head_.scale_high, head_.scale_low, bounded};

    kernel_.begin(workspace_.get(), question, q_.data());
    for (Index j = 0; j < n.T_k; j += kKeys) {
      const Index keys = std::min(kKeys, n.T_k - j);
      const Number* k = rows_as(head_.k, j, keys, k_);
      kernel_.absorb(workspace_.get(), k, values(j, keys), keys);
    }
    const auto outputs = static_cast<std::size_t>(count * d_v);
    o_.resize(outputs);
    if (has_low_) o_low_.resize(outputs);
    sums_.resize(rows.size());
    squares_.resize(rows.size());
    kernel_.finish(workspace_.get(), o_.data(), o_low_.data(), sums_.data(), squares_.data());

    const StageRows<Number> results{rows,      columns_,    queries_.data(), bounded,
                                    o_.data(), low(o_low_), sums_.data(),    squares_.data()};
    sink_.outputs(results);
    if (sink_.weights) run_weights(results);
  }

 private:
  void read_queries(std::span<const RowTask> rows) {
    const Index d_k = head_.n.d_k;
    q_.resize(rows.size() * static_cast<std::size_t>(d_k));
    queries_.resize(rows.size());
    q_row_.resize(static_cast<std::size_t>(d_k));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      read_elements(head_.q, rows[r].t * d_k, d_k, q_row_.data());
      if (sink_.query_facts) queries_[r] = query_facts(head_, q_row_.data());
      std::ranges::transform(q_row_, q_.begin() + static_cast<Index>(r) * d_k,
                             [](double x) { return static_cast<Number>(x); });
    }
  }

  void gather_columns(std::span<const RowTask> rows) {
    columns_.clear();
    for (const RowTask& row : rows) {
      if (std::ssize(columns_) == head_.n.d_v) return;
      const std::vector<Index> before = std::move(columns_);
      columns_.clear();
      std::ranges::set_union(before, row.columns, std::back_inserter(columns_));
    }
  }

  /// The wanted columns of rows of v.
  const Number* values(Index first, Index keys) {
    const Number* v = rows_as(head_.v, first, keys, v_);
    if (std::ssize(columns_) == head_.n.d_v) return v;
    v_columns_.clear();
    for (Index j = 0; j < keys; ++j)
      for (Index d : columns_) v_columns_.push_back(v[j * head_.n.d_v + d]);
    return v_columns_.data();
  }

  void run_weights(const StageRows<Number>& results) {
    const auto block = results.rows.size() * kKeys;
    w_.resize(block);
    if (has_low_) w_low_.resize(block);
    for (Index j = 0; j < head_.n.T_k; j += kKeys) {
      const Index keys = std::min(kKeys, head_.n.T_k - j);
      const Number* k = rows_as(head_.k, j, keys, k_);
      kernel_.weights(workspace_.get(), k, keys, w_.data(), w_low_.data(), kKeys);
      sink_.weights(results, {j, keys, kKeys, w_.data(), low(w_low_)});
    }
  }

  const Number* low(const std::vector<Number>& values) const {
    return has_low_ ? values.data() : nullptr;
  }

  const kernel::Kernel<Number>& kernel_;
  const bool has_low_, allow_bounded_;
  const Head& head_;
  const StageSink<Number>& sink_;
  Workspace workspace_;
  std::vector<Number> q_, k_, v_, v_columns_, o_, o_low_, sums_, squares_, w_, w_low_;
  std::vector<double> q_row_;
  std::vector<Index> columns_;
  std::vector<QueryFacts> queries_;
};

/// Below this many multiplications a thread costs more than it brings.
constexpr Index kWorthAThread = 1 << 19;

}  // namespace

template <class Number>
void run_stage(const kernel::Kernel<Number>& kernel, bool has_low, bool allow_bounded,
               const Head& head, std::span<const RowTask> rows, int threads,
               const StageSink<Number>& sink) {
  const auto count = static_cast<Index>(rows.size());
  if (count == 0) return;
  const Index work = count * head.n.T_k * (head.n.d_k + head.n.d_v);
  const Index workers = std::min({static_cast<Index>(threads), count, work / kWorthAThread + 1});

  // Groups as equal as possible, and as many as the threads can share evenly.
  Index groups = (count + kernel.queries - 1) / kernel.queries;
  groups = std::min(count, (groups + workers - 1) / workers * workers);
  std::atomic<Index> next{0};
  parallel_for(static_cast<int>(workers), workers, [&](Index) {
    Worker<Number> worker(kernel, has_low, allow_bounded, head, sink);
    for (Index g = next++; g < groups; g = next++) {
      const Index first = count * g / groups, last = count * (g + 1) / groups;
      worker.run(
          rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    }
  });
}

template void run_stage(const kernel::Kernel<float>&, bool, bool, const Head&,
                        std::span<const RowTask>, int, const StageSink<float>&);
template void run_stage(const kernel::Kernel<double>&, bool, bool, const Head&,
                        std::span<const RowTask>, int, const StageSink<double>&);

}  // namespace sdpa
