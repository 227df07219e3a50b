#include "stage/group.h"

#include "base/parallel.h"

#include <algorithm>
#include <cmath>
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

/// The same where only `runs` of the rows may be read, which are counted from `first`: rows between
/// them, and before the first in its chain, are zeros; what is before and behind is nothing.
template <class Number>
const Number* rows_as(const MatrixView& matrix, Index first, std::span<const KeyRun> runs,
                      Buffer<Number>& buffer) {
  Index next = runs.front().first / kernel::kKeyChain * kernel::kKeyChain;
  const bool without_gap = runs.size() == 1 && runs.front().first == next;
  if (without_gap && matrix.dtype() == kDtype<Number> && matrix.rows_adjoin())
    return reinterpret_cast<const Number*>(matrix.row(first));
  const Index columns = matrix.columns();
  Number* copy = buffer.hold(runs.back().end * columns);
  for (const KeyRun& run : runs) {
    std::fill(copy + next * columns, copy + run.first * columns, Number(0));
    matrix.read_rows(first + run.first, run.count(), copy + run.first * columns);
    next = run.end;
  }
  return copy;
}

/// Some keys of a head, as the kernel takes them.
template <class Number>
class Block {
 public:
  Block(const Head& head, Index first) : head_(head), first_(first) {}

  /// `which` says which keys: their count, or the runs that may be read.
  template <class Which>
  const Number* keys(const Which& which) const {
    return rows_as(head_.k, first_, which, Buffers<Number>::of_this_thread().k);
  }

  template <class Which>
  const Number* values(const Which& which, std::span<const Index> columns) const {
    Buffers<Number>& buffers = Buffers<Number>::of_this_thread();
    const Number* v = rows_as(head_.v, first_, which, buffers.v);
    if (std::ssize(columns) == head_.n.d_v) return v;
    const KeyRun there = extent(which);
    Number* const chosen = buffers.v_columns.hold(there.end * std::ssize(columns));
    Number* next = chosen + there.first * std::ssize(columns);
    for (Index j = there.first; j < there.end; ++j)
      for (Index d : columns) *next++ = v[j * head_.n.d_v + d];
    return chosen;
  }

 private:
  static KeyRun extent(Index count) { return {0, count}; }
  static KeyRun extent(std::span<const KeyRun> runs) {
    return {runs.front().first / kernel::kKeyChain * kernel::kKeyChain, runs.back().end};
  }

  const Head& head_;
  Index first_;
};

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
    row.head->read_query(row.t, q_t);
    q_t += d_k;
    dot_powers_.push_back(row.dot_power);
    sinks_.push_back(row.head->sink);
    has_sinks_ = has_sinks_ || row.head->has_sink();
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
  Number* o = buffers_.o.hold(outputs);
  const kernel::RowSums<Number> of_rows{buffers_.sums.hold(rows),
                                        kernel_.has_low ? buffers_.sums_low.hold(rows) : nullptr,
                                        buffers_.squares.hold(rows), buffers_.largest.hold(rows)};
  Number* o_low = kernel_.has_low ? buffers_.o_low.hold(outputs) : nullptr;
  Memory workspace = absorb_keys(threads);
  kernel_.finish(workspace.get(), o, o_low, of_rows);
  const StageRows<Number> results{rows_, columns_, bounded_, o, o_low, of_rows};
  sink.outputs(results);
  if (sink.weights) run_weights(workspace.get(), results, sink);
  buffers_.workspaces.push_back(std::move(workspace));
}

/// Each span of which something is seen in a workspace, merged into the first of them as soon as
/// those before it are.
template <class Number>
Memory QueryGroup<Number>::absorb_keys(int threads) {
  const std::size_t count = static_cast<std::size_t>(span_count(head_));
  std::vector<Memory> spans(count);
  std::vector<char> done(count);
  Memory all;
  std::size_t next = 0;
  std::mutex mutex;
  parallel_for(threads, std::ssize(spans), [&](Index span) {
    const auto at = static_cast<std::size_t>(span);
    Memory workspace = absorb_span(span, take_workspace(mutex));
    const std::lock_guard lock(mutex);
    spans[at] = std::move(workspace);
    done[at] = 1;
    for (; next < count && done[next] != 0; ++next) {
      if (spans[next].get() == nullptr) continue;
      if (all.get() == nullptr) {
        all = std::move(spans[next]);
        continue;
      }
      kernel_.merge(all.get(), spans[next].get());
      buffers_.workspaces.push_back(std::move(spans[next]));
    }
  });
  return all;
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
kernel::Question QueryGroup<Number>::question() const {
  // log2(e)
  constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;
  kernel::Question question{};
  question.queries = std::ssize(rows_);
  question.d_k = head_.n.d_k;
  question.d_v = std::ssize(columns_);
  question.bounded = bounded_;
  question.dot_powers = dot_powers_.data();
  question.score_scale_high = head_.score_scale_high;
  question.score_scale_low = head_.score_scale_low;
  question.is_scaled = head_.visible.bias || head_.has_softcap();
  question.scale_high = question.is_scaled ? kHigh : head_.scale_high;
  question.scale_low = question.is_scaled ? kLow : head_.scale_low;
  if (head_.has_softcap()) {
    // Within 3u^2 of the quotient of the scale by the cap: its high part is rounded once, the rest
    // is exact but for underflow, and is divided and rounded twice.
    const double high = 2 * head_.scale_high, quotient = high / head_.softcap;
    const double rest = std::fma(-quotient, head_.softcap, high) + 2 * head_.scale_low;
    question.cap = head_.softcap;
    question.cap_scale_high = quotient + rest / head_.softcap;
    question.cap_scale_low = rest / head_.softcap - (question.cap_scale_high - quotient);
  }
  if (has_sinks_) question.sinks = sinks_.data();
  return question;
}

/// Nothing if no query sees a key of the span.
template <class Number>
Memory QueryGroup<Number>::absorb_span(Index span, Memory workspace) const {
  GroupSight<Number> sight(rows_, kernel_.lanes);
  bool begun = false;
  const auto begin = [&] {
    if (std::exchange(begun, true)) return;
    const kernel::Question of_group = question();
    workspace.hold(static_cast<std::size_t>(
        kernel_.workspace_bytes(of_group.queries, of_group.d_k, of_group.d_v)));
    kernel_.begin(workspace.get(), of_group, q_);
  };
  const Index last = std::min((span + 1) * kernel::kKeySpan, head_.n.T_k);
  for (Index j = span * kernel::kKeySpan; j < last; j += kKeys) {
    const Index keys = std::min(kKeys, last - j);
    const Block<Number> block(head_, j);
    switch (sight.look(j, keys)) {
      case Seen::nothing:
        break;
      case Seen::everything:
        begin();
        kernel_.absorb(workspace.get(), block.keys(keys), block.values(keys, columns_), keys);
        break;
      case Seen::some:
        begin();
        kernel_.absorb_visible(workspace.get(), block.keys(sight.runs()),
                               block.values(sight.runs(), columns_), keys, sight.sight());
        break;
    }
  }
  return begun ? std::move(workspace) : Memory();
}

template <class Number>
void QueryGroup<Number>::run_weights(void* workspace, const StageRows<Number>& results,
                                     const StageSink<Number>& sink) const {
  const Index size = std::ssize(rows_) * kKeys;
  Number* w = buffers_.w.hold(size);
  Number* w_low = kernel_.has_low ? buffers_.w_low.hold(size) : nullptr;
  GroupSight<Number> sight(rows_, kernel_.lanes);
  for (Index j = 0; j < head_.n.T_k; j += kKeys) {
    const Index keys = std::min(kKeys, head_.n.T_k - j);
    const Block<Number> block(head_, j);
    switch (sight.look(j, keys)) {
      case Seen::nothing:
        std::fill(w, w + size, Number(0));
        if (w_low != nullptr) std::fill(w_low, w_low + size, Number(0));
        break;
      case Seen::everything:
        kernel_.weights(workspace, block.keys(keys), keys, w, w_low, kKeys);
        break;
      case Seen::some:
        kernel_.weights_visible(workspace, block.keys(sight.runs()), keys, sight.sight(), w, w_low,
                                kKeys);
        break;
    }
    sink.weights(results, {j, keys, kKeys, w, w_low});
  }
}

template class QueryGroup<float>;
template class QueryGroup<double>;

}  // namespace sdpa
