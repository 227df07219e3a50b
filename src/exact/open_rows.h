#pragma once

#include "base/index.h"

#include <mutex>
#include <vector>

namespace sdpa {

/// Values of a row that a step left undecided.
struct OpenRow {
  Index row;                            ///< of the results
  std::vector<Index> outputs, weights;  ///< columns, keys
};

/// Rows with undecided values, from several threads.
class OpenRows {
 public:
  /// Some values of a row; the others of the same row come in their order.
  void add(OpenRow row) {
    const std::lock_guard lock(mutex_);
    rows_.push_back(std::move(row));
  }

  /// All of them, one entry a row, in ascending order; none are left.
  std::vector<OpenRow> take();

 private:
  std::mutex mutex_;
  std::vector<OpenRow> rows_;
};

}  // namespace sdpa
