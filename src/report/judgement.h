#pragma once

#include "array/array.h"
#include "report/block_map.h"
#include "report/pattern.h"
#include "report/right_values.h"

#include <span>
#include <vector>

namespace sdpa {

/// A row of an output.
struct RowJudgement {
  Index outside = 0;  ///< values outside the bound
  double worst = 0;   ///< the largest error as a multiple of its bound
};

/// An output against the bound of an honest kernel. Positions are in C order of the whole output.
struct Judgement {
  Index count = 0;          ///< values judged or not
  Index judged = 0;         ///< but those without a bound, and NaN where only a NaN is right
  Index outside = 0;        ///< values further from the right one than allowed
  Index unbounded = 0;      ///< numbers for which there is no bound, hence no judgement
  Index exactly_right = 0;  ///< values that are the correctly rounded ones
  Index actual_nans = 0, exact_nans = 0;

  /// The largest error as a multiple of its own bound, and where it is (-1: nothing was judged).
  double worst_multiple = 0;
  Index worst = -1;
  double worst_actual = 0, worst_exact = 0;  ///< the values there
  double worst_allowed = 0;                  ///< the bound there

  Pattern pattern;                 ///< of the values outside
  BlockMap map;                    ///< of the same
  std::vector<RowJudgement> rows;  ///< all of the output, in its order
};

/// Judges an output some rows at a time.
class Judge {
 public:
  /// shape   of the whole output, (..., T_q, d_v)
  explicit Judge(const Shape& shape);

  /// Where the error of each value goes, in units of its bound: as many as the output has. NaN where
  /// there is no bound, 0 in rows that are skipped.
  void keep_errors(float* errors) { errors_ = errors; }

  /// Judges the next rows.
  ///
  /// actual    (rows, d_v)   in a float type
  /// right                   for this type
  /// allowed   [rows][d_v]   how far from it an honest kernel may be
  ///
  /// Where the right value is a NaN only a NaN is right, and where it is infinite, only that; an
  /// infinity is allowed where the bound reaches the values that round to it.
  void add_rows(const Array& actual, const RightValues& right, std::span<const double> allowed);

  /// The next rows are nobody's: they are neither counted nor judged.
  void skip_rows(Index rows) { position_ += rows * row_size_; }

  const Judgement& judgement() const { return judgement_; }

 private:
  Index row_size_, position_ = 0;
  float* errors_ = nullptr;
  Judgement judgement_;
};

}  // namespace sdpa
