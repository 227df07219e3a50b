#pragma once

#include "exact/bound.h"
#include "exact/ladder.h"
#include "stage/stage.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// What stays the same of a row on its way up the ladder.
struct KnownRow {
  RowTask task;                  ///< all columns, on all keys
  const Norms* norms = nullptr;  ///< null: the row is not asked for
  QueryNorms query{};
  bool is_zero = false;            ///< all of it
  double bias = 0;                 ///< RowBias::relevant
  std::optional<NearKeys> near{};  ///< if they have been looked for
};

/// A key whose score is so far below the largest has a weight below half of the smallest number of
/// the type: exp(-104) < 2^-150, exp(-746) < 2^-1075.
double gap_of_zero(Dtype dtype);

/// The rows of results of the float type `dtype`, by their number there.
class KnownRows {
 public:
  /// columns   of v, all of them; must outlive this
  KnownRows(std::span<const MeasuredRows> parts, Index rows, std::span<const Index> columns,
            Dtype dtype);

  const KnownRow& operator[](Index row) const { return rows_[static_cast<std::size_t>(row)]; }

  /// Those that are asked for.
  std::vector<RowTask> tasks() const;

  /// Finds the near keys of those rows of which norms tell too little to decide much.
  void look_for_near_keys(std::span<const RowTask> tasks, const kernel::ArithmeticError& error,
                          int threads);

  /// The bound of row r of the kernel's results.
  RowBound bound(const StageRows<double>& results, std::size_t r,
                 const kernel::ArithmeticError& error) const;

 private:
  const Dtype dtype_;
  std::vector<KnownRow> rows_;
};

}  // namespace sdpa
