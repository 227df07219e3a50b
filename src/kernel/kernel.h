#pragma once

#include "kernel/blocks.h"
#include "kernel/error.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace sdpa::kernel {

/// What a group of queries is asked.
struct Question {
  Index queries;  ///< 1 ... Kernel::queries
  Index d_k, d_v;
  double scale_high, scale_low;  ///< their sum is log2(e) c of the scale c: weights are powers of 2
  /// The scores' absolute values are known to stay below kLargestBoundedScore: no maximum need be
  /// subtracted.
  bool bounded;
  /// [queries] a power of two, at least twice sum_i |q_i k_ji| for every key j. Only double-double
  /// looks at it.
  const double* dot_powers;
  /// Whether scores are scaled before the softmax, as they are where a bias is added or they are capped;
  /// scale_high and scale_low are then log2(e) alone.
  bool is_scaled = false;
  /// Their sum is c. Only absorb_visible, weights_visible and sinks look at it.
  double score_scale_high = 0, score_scale_low = 0;
  /// C, if each scaled score s is to become C tanh(s/C), and the sum 2 log2(e) c / C; 0: no cap. Only
  /// absorb_visible and weights_visible look at it: with a cap they take all blocks.
  double cap = 0, cap_scale_high = 0, cap_scale_low = 0;
  /// [queries] the logit of a sink, or null: no sink in this group. -inf: none of this query.
  const double* sinks = nullptr;
};

/// What the queries of a group see of a block of keys.
template <class Number>
struct Sight {
  /// [kKeyBlock / kKeyChain][stride] bit i of word [c][t]: whether query t sees key c * kKeyChain +
  /// i. No bits are set of keys behind the block, and of queries behind the last one up to a
  /// multiple of Kernel::lanes, for which there are words.
  const std::uint32_t* seen;
  Index stride;
  /// [queries] for each a row of biases of the keys, or null: no bias in this group.
  const Number* const* bias;
};

inline constexpr double kLargestBoundedScore = 300;

/// What a group has found out of its rows, besides the output: each [queries].
template <class Number>
struct RowSums {
  Number* sums;      ///< of the numerators
  Number* sums_low;  ///< their low parts, where the arithmetic has them; else left alone
  Number* squares;   ///< sums of the numerators' squares; 0 in float32, whose error nobody bounds
  /// The score for which the numerator is 1, before it is scaled (with a bias: after). 0 where scores
  /// are bounded.
  Number* largest;
};

/// Attention of a group of queries, one block of keys at a time, in one arithmetic.
///
/// Number is the type in which operands and results are given. The functions share a workspace,
/// aligned to kAlignment, that the caller owns; a group is begun, absorbs keys block by block, and
/// is finished. Each span of kKeySpan keys has a workspace of its own, so that several threads can
/// share a group; the spans are then merged in their order.
template <class Number>
struct Kernel {
  /// The largest group, and the lanes of a vector: other groups than multiples of it leave some
  /// idle.
  Index queries, lanes;

  /// Whether results have low parts.
  bool has_low;

  /// What its roundings cost at most.
  ArithmeticError error;

  Index (*workspace_bytes)(Index queries, Index d_k, Index d_v);

  /// q [queries][d_k]
  void (*begin)(void* workspace, const Question& question, const Number* q);

  /// k [keys][d_k], v [keys][d_v], at most kKeyBlock keys. Only the last block of a group may be
  /// shorter than kKeyBlock: the chains of a sum depend on the position of a key.
  void (*absorb)(void* workspace, const Number* k, const Number* v, Index keys);

  /// The same where queries see only some of the keys, or a bias is added (then for all blocks of
  /// the group). Keys that no query of the group sees are not read, but those between the beginning
  /// of the first chain in which one is seen and the last key that is seen.
  void (*absorb_visible)(void* workspace, const Number* k, const Number* v, Index keys,
                         const Sight<Number>& sight);

  /// Adds to a workspace what another one of the same group, for the span behind it, has absorbed.
  void (*merge)(void* workspace, const void* next);

  /// o [queries][d_v]. Writes the output, and what the rows' sums are; low parts go to o_low where the
  /// arithmetic has them (else it is left alone).
  void (*finish)(void* workspace, Number* o, Number* o_low, const RowSums<Number>& sums);

  /// After `finish`: the weights of a block of keys, to w [queries][stride].
  void (*weights)(void* workspace, const Number* k, Index keys, Number* w, Number* w_low,
                  Index stride);

  /// The same for a block that absorb_visible took: 0 for keys that a query does not see.
  void (*weights_visible)(void* workspace, const Number* k, Index keys, const Sight<Number>& sight,
                          Number* w, Number* w_low, Index stride);
};

inline constexpr std::size_t kAlignment = 64;

/// The same loops compiled for one instruction set.
struct InstructionSet {
  const char* name;
  bool (*supported)();
  const Kernel<float>& float32;
  const Kernel<double>& float64;
  const Kernel<double>& double_double;
};

/// All that this program was built with, fastest first; the last runs on every processor.
std::span<const InstructionSet> instruction_sets();

/// The one to use: the fastest that this processor supports, or the one that the environment
/// variable SDPA_FORCE_ISA names. Throws std::runtime_error if that one is unknown or not supported
/// here.
const InstructionSet& instruction_set();

}  // namespace sdpa::kernel
