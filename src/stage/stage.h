#pragma once

#include "kernel/kernel.h"
#include "stage/head.h"

#include <functional>
#include <span>

namespace sdpa {

/// A row that is to be computed.
struct RowTask {
  const Head* head;
  Index t;                         ///< the row of q
  Index row;                       ///< of the results
  std::span<const Index> columns;  ///< of v that are wanted, in ascending order
  double largest_score;  ///< no score's absolute value is larger; infinite where nothing is known
  double dot_power;      ///< a power of two, at least twice sum_i |q_i k_ji| for every key j
};

/// Results of the kernel for a few rows of queries with the same k and v.
template <class Number>
struct StageRows {
  std::span<const RowTask> rows;
  std::span<const Index> columns;   ///< all that any of these rows wants
  bool bounded;                     ///< whether the kernel left the maximum alone
  const Number* o;                  ///< [rows][columns] outputs
  const Number* o_low;              ///< their low parts, or null if the arithmetic has none
  kernel::RowSums<Number> of_rows;  ///< each [rows]
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

/// Runs one arithmetic of the kernel over rows, in groups of several. Rows of heads with the same k
/// and v are computed together, wherever they stand. All heads have the same d_k and d_v.
///
/// Groups whose scores are all known to be small keep their maximum in: how such a row is rounded
/// depends on its neighbours, within the bounds of exact/bound.h. Plain arithmetic, whose bytes
/// depend on nothing but the row, knows of no largest score.
template <class Number>
void run_stage(const kernel::Kernel<Number>& kernel, std::span<const RowTask> rows, int threads,
               const StageSink<Number>& sink);

}  // namespace sdpa
