#pragma once

#include "attention/problem.h"

#include <functional>
#include <optional>

namespace sdpa {

/// From where a row of an output is. Heads are counted as those of Problem, and stand for the k and v
/// that they use.
struct RowSource {
  Index q_head, t;          ///< the query
  Index k_head, v_head;     ///< its keys, and their values
  Index seen_head, seen_t;  ///< whose mask, bias and sink it has

  /// All of one row.
  static RowSource own(Index head, Index t) { return {head, t, head, head, head, t}; }
};

/// What a kernel takes for k and v of a head.
enum class TakenOperands {
  right,
  swapped,       ///< v for k and k for v
  v_transposed,  ///< v as if it lay in (d_v, T_k)
  regrouped,     ///< k and v as if heads and T were the other way round in memory
};

/// What becomes of a key that a query must not see.
enum class HiddenKeys {
  left_out,
  seen_less,      ///< its score is one below what it would be
  zero_score,     ///< its score is 0
  lowest_cap,     ///< its score is minus the soft cap
  without_value,  ///< its weight is set to 0 after the softmax
};

/// What a kernel does wrong from one tile of keys to the next.
enum class TileFault {
  none,
  output_not_rescaled,   ///< when the maximum grows
  sum_not_rescaled,      ///< likewise
  nothing_rescaled,      ///< likewise
  scaled_again,          ///< tile number i has its scores scaled i + 1 times
  merged_with_exponent,  ///< tiles count by a power of the sum of their exponentials
};

/// What a kernel divides the weighted sum by.
enum class Divisor { sum, nothing, nothing_no_maximum, sum_over_queries };

/// How a kernel differs from the right one. As it stands, it does not.
struct KernelVariant {
  // Rows and operands.
  std::function<RowSource(Index head, Index t)> source = nullptr;
  TakenOperands operands = TakenOperands::right;
  double (*rounding)(double) = nullptr;  ///< of q and k
  bool rounds_v = false;                 ///< and of v
  Index v_shift = 0;                     ///< key j has the value of key j - v_shift, round
  std::optional<KeyRun> stale;           ///< these keys are those that lie stale_by before them
  Index stale_by = 0;
  bool stale_k = false, stale_v = false;

  // Scores.
  std::optional<double> scale;
  bool capped = true;
  bool cap_after_bias = false;
  double bias_factor = 1;

  // What is seen.
  std::function<void(Visible&, const Extents&)> sight = nullptr;  ///< of a head of these extents
  bool sees_hidden_only = false;
  std::optional<KeyRun> missing;
  Index mask_tile = 0;  ///< a tile of keys of which the query sees one is seen whole; 0: no tiles
  HiddenKeys hidden = HiddenKeys::left_out;

  // Sums.
  double sink_factor = 1, sink_count = 1;
  bool sink_after_maximum = false;  ///< added to a sum from which the maximum is already taken
  double padding = 0;               ///< keys of score 0 and value 0 behind the last one
  bool padding_is_capped = false;   ///< their score is minus the soft cap
  Divisor divisor = Divisor::sum;
  TileFault tile_fault = TileFault::none;
  Index tile = 0;
  double exponent = 1;  ///< of merged_with_exponent
  double factor = 1;    ///< of the output

  /// How far the scale and the factor may be from those of the kernel, relatively, where they are
  /// had from the output.
  double scale_slack = 0, factor_slack = 0;

  double weight_roundoff = 0;  ///< of weights in the second product, if it is another
};

}  // namespace sdpa
