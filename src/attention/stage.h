#pragma once

#include "attention/head.h"
#include "attention/norms.h"
#include "kernel/kernel.h"

#include <functional>
#include <span>

namespace sdpa {

/// A row that is to be computed, and the columns of v that are wanted of it, in ascending order.
struct RowTask {
  Index t;
  std::span<const Index> columns;
};

/// Results of the kernel for a few rows of queries.
template <class Number>
struct StageRows {
  std::span<const RowTask> rows;
  std::span<const Index> columns;  ///< all that any of these rows wants
  const QueryNorms* queries;       ///< of each, or null if Norms were not given
  bool bounded;                    ///< whether the kernel left the maximum alone
  const Number* o;                 ///< [rows][columns] outputs
  const Number* o_low;             ///< their low parts, or null if the arithmetic has none
  const Number* sums;              ///< [rows] sums of the numerators
  const Number* squares;           ///< [rows] sums of their squares
};

/// A block of weights of the same rows: keys first ... first + keys - 1.
template <class Number>
struct StageWeights {
  Index first, keys;
  Index stride;         ///< from a row to the next
  const Number* w;      ///< [rows][stride]
  const Number* w_low;  ///< or null
};

/// What is done with the results. Called from several threads, for a row always from the same.
template <class Number>
struct StageSink {
  std::function<void(const StageRows<Number>&)> outputs;
  /// Empty: no weights are wanted.
  std::function<void(const StageRows<Number>&, const StageWeights<Number>&)> weights;
};

/// Runs one arithmetic of the kernel over the given rows of a head, several at once.
///
/// kernel          of kernel::instruction_set()
/// has_low         whether that arithmetic has low parts
/// allow_bounded   whether rows with small scores may keep their maximum in; how a row is rounded
///                 then depends on its neighbours, within the bounds of bound.h
/// norms           of the head; null for plain arithmetic, without low parts and bounded rows, as
///                 that in float32 always is
template <class Number>
void run_stage(const kernel::Kernel<Number>& kernel, bool has_low, bool allow_bounded,
               const Head& head, const Norms* norms, std::span<const RowTask> rows, int threads,
               const StageSink<Number>& sink);

}  // namespace sdpa
