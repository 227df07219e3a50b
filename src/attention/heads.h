#pragma once

#include "attention/attention.h"
#include "attention/mask.h"
#include "attention/problem.h"
#include "attention/scoring.h"
#include "exact/ladder.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sdpa {

/// How much of the rows asked for so far is visible. Rows behind their query length count as no
/// query.
struct MaskCounts {
  Index visible_pairs = 0, pairs = 0;
  Index empty_rows = 0;                  ///< that see no key
  std::optional<Index> first_empty_row;  ///< counted through all heads
};

/// Attention of every head of a problem, some rows at a time. Rows are counted through all heads,
/// one head behind the other: row h * T_q + t is query t of head h, of whatever sequence.
///
/// Threads share the rows of all heads that are asked for together. What is to be known of k, v and
/// the mask of a head is found out once, if rows are asked for in their order.
class Heads {
 public:
  /// q, k and v as check_shapes takes them; throws what it and Mask throw, and Error if weights of
  /// packed sequences are wanted.
  Heads(const Array& q, const Array& k, const Array& v, const Settings& settings,
        const Layout& layout = {}, const OperandNames& names = {}, const MaskOptions& mask = {},
        const ScoringOptions& scoring = {});

  const Problem& problem() const { return problem_; }
  const Mask& mask() const { return mask_; }
  const ScoringOptions& scoring() const { return scoring_; }
  Index row_count() const { return problem_.row_count(); }

  /// The operands of head h, and what its queries see.
  Head head(Index h) const;

  /// The type of the results.
  Dtype dtype() const { return dtype_; }

  /// How many rows to ask for at a time: few enough that each thread is done within some tenths of
  /// a second, as far as that leaves the kernel rows enough, and that their weights take little
  /// memory.
  Index rows_at_a_time() const;

  /// Rows first ... first + count - 1: output (count, d_v), weights (count, T_k). Each row is what
  /// attention() gives for its query and the keys that it sees, or what EmptyRows says. Throws
  /// Error if a row sees no key and that is to be an error.
  Attention rows(Index first, Index count);

  /// Of the rows that have been asked for.
  const MaskCounts& mask_counts() const { return counts_; }

  /// A row as [entry, head, query], as far as there are such axes.
  std::string row_text(Index row) const;

 private:
  /// What is shared by the heads that have the same k and v and see the same of them.
  struct KnownKeys {
    std::optional<Survey> survey;  ///< if there is a mask
    std::optional<Norms> norms;    ///< if exact results are wanted, of finite keys
  };
  struct KnownHead {
    Head head;
    std::shared_ptr<const KnownKeys> keys;
  };

  KnownKeys learn_keys(const Head& head, int threads) const;
  void learn_heads(Index first, Index last);
  void count_rows(Index h, Index first, Index count);
  void fill_empty_rows(const KnownHead& known, Index first, Index count, Index at,
                       Attention& results) const;
  void run(std::span<const MeasuredRows> parts, Attention& results) const;
  void run_nonfinite(const HeadRows& part, Attention& results) const;
  void run_finite_head(const Head& head, Attention& results) const;
  void run_exact(std::span<const MeasuredRows> parts, Attention& results) const;
  void run_plain(std::span<const MeasuredRows> parts, Attention& results) const;

  Settings settings_;
  Problem problem_;
  Mask mask_;
  ScoringOptions scoring_;
  std::vector<double> sinks_;  ///< one a head of all entries, or empty
  Dtype dtype_;
  std::map<Index, KnownHead> known_;  ///< those of the last rows
  MaskCounts counts_;
};

}  // namespace sdpa
