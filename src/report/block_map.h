#pragma once

#include "array/shape.h"

#include <string>
#include <vector>

namespace sdpa {

/// Where in the matrices of an array marked elements are: each matrix in at most 16 x 16 blocks.
class BlockMap {
 public:
  /// shape   (..., rows, columns)
  explicit BlockMap(const Shape& shape);

  /// Marks an element, by its position in C order.
  void add(Index position);

  /// A line for each row of blocks of the first matrices that have marks, of those that have some but
  /// not all; empty if there is none. "." is a block without a mark, "#" one all marked, ":" another.
  std::vector<std::string> lines() const;

 private:
  struct Blocks {
    Index extent, size, count;  ///< of an axis: elements, elements a block, blocks
  };
  static Blocks blocks_of(Index extent);
  std::string line(Index matrix, Index block_row) const;

  Index matrices_;
  Blocks rows_, columns_;
  std::vector<Index> marks_;  ///< [matrices][rows][columns] blocks
};

}  // namespace sdpa
