#pragma once

#include "attention/heads.h"
#include "report/kernel_bound.h"
#include "report/right_values.h"

#include <functional>
#include <map>

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

  /// Attention in the type of exact results.
  const Heads& heads() const { return exact_; }
  const Problem& problem() const { return exact_.problem(); }
  const Arithmetic& arithmetic() const { return arithmetic_; }
  Index row_count() const { return exact_.row_count(); }

  /// How many rows to ask for at a time.
  Index rows_at_a_time() const;

  /// Rows first ... first + count - 1, of any heads. Cheap in the order of heads.
  ReferenceRows rows(Index first, Index count);

  /// At head `head`, which is one of those of the last rows, or the next one; good until further
  /// rows are asked for.
  const CloseLook& close_look(Index head);

  /// Whether row `row` is behind its query length, and nobody's.
  bool is_behind(Index row);

 private:
  void learn_heads(Index first, Index last);
  textbook::Values allowed(Index first, std::span<const double> o);

  Arithmetic arithmetic_;
  int threads_;
  Heads exact_, rounded_;
  std::map<Index, KernelBound> bounds_;  ///< of the heads of the last rows
};

}  // namespace sdpa
