#pragma once

#include "attention/heads.h"
#include "report/kernel_bound.h"
#include "report/right_values.h"

#include <functional>
#include <optional>

namespace sdpa {

/// Attention of the inputs whose output is judged.
using HeadsOf = std::function<Heads(const Settings&)>;

/// What some rows of an output should be.
struct ReferenceRows {
  RightValues right;
  textbook::Values allowed;  ///< [rows][d_v]  how far from it a kernel may be; see KernelBound
};

/// What an output is judged by. Rows are counted as those of Heads.
class Reference {
 public:
  Reference(const HeadsOf& heads, const Arithmetic& arithmetic, int threads);

  const Problem& problem() const { return exact_.problem(); }
  const Arithmetic& arithmetic() const { return arithmetic_; }
  Index row_count() const { return exact_.row_count(); }

  /// How many rows to ask for at a time.
  Index rows_at_a_time() const { return exact_.rows_at_a_time(); }

  /// Rows first ... first + count - 1, of any heads. Cheap in the order of heads.
  ReferenceRows rows(Index first, Index count);

  /// At head `head`; good until another head is asked for.
  const CloseLook& close_look(Index head) { return bound_of(head).close_look(); }

 private:
  const KernelBound& bound_of(Index head);

  Arithmetic arithmetic_;
  int threads_;
  Heads exact_, rounded_;
  Index bounded_ = -1;  // the head of the bound
  std::optional<KernelBound> bound_;
};

}  // namespace sdpa
