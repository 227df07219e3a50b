#include "stage/group.h"

#include "base/parallel.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sdpa {

namespace {

constexpr Index kKeys = kernel::kKeyBlock;

template <class Number>
constexpr Dtype kDtype = sizeof(Number) == 4 ? Dtype::float32 : Dtype::float64;

/// Rows of a matrix as Number: in place where they are that already, else copied to `buffer`.
template <class Number>
const Number* rows_as(const MatrixView& matrix, Index first, Index count, Buffer<Number>& buffer) {
  if (matrix.dtype() == kDtype<Number> && matrix.rows_adjoin())
    return reinterpret_cast<const Number*>(matrix.row(first));
  Number* copy = buffer.hold(count * matrix.columns());
  matrix.read_rows(first, count, copy);
  return copy;
}

template <class Number>
const Number* keys_as(const Head& head, Index first, Index count) {
  return rows_as(head.k, first, count, Buffers<Number>::of_this_thread().k);
}

template <class Number>
const Number* values_as(const Head& head, Index first, Index count,
                        std::span<const Index> columns) {
  Buffers<Number>& buffers = Buffers<Number>::of_this_thread();
  const Number* v = rows_as(head.v, first, count, buffers.v);
  if (std::ssize(columns) == head.n.d_v) return v;
  Number* const chosen = buffers.v_columns.hold(count * std::ssize(columns));
  Number* next = chosen;
  for (Index j = 0; j < count; ++j)
    for (Index d : columns) *next++ = v[j * head.n.d_v + d];
  return chosen;
}

}  // namespace

Index span_count(const Head& head) {
  return (head.n.T_k + kernel::kKeySpan - 1) / kernel::kKeySpan;
}

template <class Number>
QueryGroup<Number>::QueryGroup(const kernel::Kernel<Number>& kernel, std::span<const RowTask> rows)
    : kernel_(kernel),
      head_(*rows.front().head),
      rows_(rows),
      buffers_(Buffers<Number>::of_this_thread()) {
  read_queries();
  gather_columns();
}

template <class Number>
void QueryGroup<Number>::read_queries() {
  const Index d_k = head_.n.d_k;
  Number* q_t = q_ = buffers_.q.hold(std::ssize(rows_) * d_k);
  for (const RowTask& row : rows_) {
    row.head->q.read_rows(row.t, 1, q_t);
    q_t += d_k;
    dot_powers_.push_back(row.dot_power);
    bounded_ = bounded_ && row.largest_score <= kernel::kLargestBoundedScore;
  }
}

template <class Number>
void QueryGroup<Number>::gather_columns() {
  for (const RowTask& row : rows_) {
    if (std::ssize(columns_) == head_.n.d_v) return;
    const std::vector<Index> before = std::exchange(columns_, {});
    std::ranges::set_union(before, row.columns, std::back_inserter(columns_));
  }
}

template <class Number>
void QueryGroup<Number>::run(int threads, const StageSink<Number>& sink) {
  const Index rows = std::ssize(rows_), outputs = rows * std::ssize(columns_);
  Number *o = buffers_.o.hold(outputs), *sums = buffers_.sums.hold(rows),
         *squares = buffers_.squares.hold(rows);
  Number* o_low = kernel_.has_low ? buffers_.o_low.hold(outputs) : nullptr;
  Memory workspace = absorb_keys(threads);
  kernel_.finish(workspace.get(), o, o_low, sums, squares);
  const StageRows<Number> results{rows_, columns_, bounded_, o, o_low, sums, squares};
  sink.outputs(results);
  if (sink.weights) run_weights(workspace.get(), results, sink);
  buffers_.workspaces.push_back(std::move(workspace));
}

/// Each span in a workspace, merged into the first as soon as those before it are.
template <class Number>
Memory QueryGroup<Number>::absorb_keys(int threads) {
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

template <class Number>
Memory QueryGroup<Number>::take_workspace(std::mutex& mutex) {
  const std::lock_guard lock(mutex);
  if (buffers_.workspaces.empty()) return {};
  Memory workspace = std::move(buffers_.workspaces.back());
  buffers_.workspaces.pop_back();
  return workspace;
}

template <class Number>
Memory QueryGroup<Number>::absorb_span(Index span, Memory workspace) const {
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

template <class Number>
void QueryGroup<Number>::run_weights(void* workspace, const StageRows<Number>& results,
                                     const StageSink<Number>& sink) const {
  const Index block = std::ssize(rows_) * kKeys;
  Number* w = buffers_.w.hold(block);
  Number* w_low = kernel_.has_low ? buffers_.w_low.hold(block) : nullptr;
  for (Index j = 0; j < head_.n.T_k; j += kKeys) {
    const Index keys = std::min(kKeys, head_.n.T_k - j);
    kernel_.weights(workspace, keys_as<Number>(head_, j, keys), keys, w, w_low, kKeys);
    sink.weights(results, {j, keys, kKeys, w, w_low});
  }
}

template class QueryGroup<float>;
template class QueryGroup<double>;

}  // namespace sdpa
