#pragma once

#include "attention/heads.h"
#include "exact/norms.h"

#include <optional>
#include <vector>

namespace sdpa {

/// What a score is: the dot product scaled; capped as well; or what enters the softmax, with a bias
/// added and -inf where a key is hidden.
enum class ScoreStage { scale, softcap, mask };

/// Scores of all heads of a problem and what the softmax makes of them, some rows at a time: correctly
/// rounded, whatever the precision of the output, to float32, or float64 where the output is that. Rows
/// are counted as Heads counts them.
///
/// Values that are not finite follow IEEE 754 applied to the formula.
class ScoreRows {
 public:
  /// `heads` must outlive this.
  ScoreRows(const Heads& heads, int threads);

  Dtype dtype() const { return dtype_; }

  /// ln(sum_j exp(s_j)) over the keys that rows first ... first + count - 1 see, (count): -inf where there
  /// is none, whatever EmptyRows says.
  Array log_sums(Index first, Index count);

  /// Scores (count, T_k).
  Array scores(Index first, Index count, ScoreStage after);

 private:
  /// What is known of the head that rows were last asked of.
  struct KnownHead {
    Index number;
    Head head;
    std::vector<KeyRun> seen;
    std::vector<char> k_finite;  // [T_k], of those seen
    bool all_finite;
    Norms norms;  // of the finite ones
  };

  /// Calls act(head, first query, queries, row of the results) for each head of these rows.
  template <class Act>
  void for_each_head(Index first, Index count, Act act);
  const KnownHead& learn(Index number);
  void log_sums_of(const KnownHead& known, Index t, Index count, Index at, Array& results);
  double log_sum_of_row(const KnownHead& known, Index t);

  const Heads& heads_;
  const int threads_;
  const Dtype dtype_;
  std::optional<KnownHead> known_;
};

}  // namespace sdpa
