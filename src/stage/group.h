#pragma once

#include "stage/buffers.h"
#include "stage/sight.h"
#include "stage/stage.h"

#include <mutex>
#include <span>
#include <vector>

namespace sdpa {

/// Spans of keys that several threads can share: each has a workspace of its own.
Index span_count(const Head& head);

/// Rows with the same k and v that the kernel takes at once.
template <class Number>
class QueryGroup {
 public:
  QueryGroup(const kernel::Kernel<Number>& kernel, std::span<const RowTask> rows);

  /// Computes the rows with up to so many threads, and gives the results to the sink.
  void run(int threads, const StageSink<Number>& sink);

 private:
  void read_queries();
  void gather_columns();
  Memory absorb_keys(int threads);
  Memory take_workspace(std::mutex& mutex);
  kernel::Question question() const;
  Memory absorb_span(Index span, Memory workspace) const;
  void run_weights(void* workspace, const StageRows<Number>& results,
                   const StageSink<Number>& sink) const;

  const kernel::Kernel<Number>& kernel_;
  const Head& head_;  // of the first; only its q is not that of the others
  const std::span<const RowTask> rows_;
  bool bounded_ = true;
  Buffers<Number>& buffers_;  // of the thread that runs the group
  Number* q_ = nullptr;
  std::vector<double> dot_powers_, sinks_;
  bool has_sinks_ = false;
  std::vector<Index> columns_;
};

}  // namespace sdpa
