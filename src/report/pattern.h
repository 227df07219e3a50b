#pragma once

#include "array/shape.h"

#include <string>
#include <vector>

namespace sdpa {

/// Places of an array, and the simplest pattern that covers them.
///
/// The places are projected on each axis, and on the diagonals of rows and columns, so that the
/// memory is the sum of the extents. The last axis holds the columns, the one before it the rows;
/// those before them are called axis 0, axis 1 and so on.
class Pattern {
 public:
  explicit Pattern(Shape shape);

  /// Adds the element at `position` in C order.
  void add(Index position);

  /// Elements added; each is added once.
  Index count() const { return count_; }

  /// What the places have in common: "nowhere", "one value", "everywhere", or for each axis that
  /// they do not fill one of "row 5", "rows 3, 8", "rows 3 to 8", "from row 96 on", "every 4th row
  /// from row 1 on", "the last 8 rows of every block of 64"; for example "index 2 of axis 0, from
  /// row 96 on". Rows after the last full block of 16, 32, 64 or 128 are said to be that. Rows and
  /// columns may be "the diagonal", "the diagonal where column = row + 3". If the places are less
  /// than nine tenths of all that these words name, "scattered, 5 %" follows.
  std::string text() const;

 private:
  Shape shape_;
  Index count_ = 0;
  std::vector<std::vector<bool>> marks_;  // [axis][index along it]
  std::vector<bool> diagonals_;           // [column - row, from its smallest value on]
};

}  // namespace sdpa
