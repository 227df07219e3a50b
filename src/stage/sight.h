#pragma once

#include "stage/buffers.h"
#include "stage/stage.h"

#include <cstdint>
#include <span>
#include <vector>

namespace sdpa {

/// How much of a block of keys the queries of a group see.
enum class Seen { nothing, some, everything };

/// What a group of queries sees of one block of keys after another. Lives in buffers of the thread
/// that makes it.
template <class Number>
class GroupSight {
 public:
  /// lanes   Kernel::lanes
  GroupSight(std::span<const RowTask> rows, Index lanes);

  /// Looks at keys first ... first + keys - 1, `first` being the beginning of a block of the kernel.
  /// With a bias or a cap it is never `everything`.
  Seen look(Index first, Index keys);

  /// After `some`: what the kernel is told. Good until the next look.
  const kernel::Sight<Number>& sight() const { return sight_; }

  /// After `some`: the runs of keys that some query sees, counted from the first of the block.
  const std::vector<KeyRun>& runs() const { return runs_; }

 private:
  void read_bias(Index first, Index keys);

  const std::span<const RowTask> rows_;
  const bool has_bias_;
  bool has_arrays_ = false;
  KeyRun any_, all_;  ///< hold the keys that some query sees; are seen by all, arrays aside
  kernel::Sight<Number> sight_;
  std::uint32_t* words_;
  std::vector<const Number*> bias_rows_;
  std::vector<KeyRun> runs_;
};

}  // namespace sdpa
