#pragma once

#include "array/view.h"
#include "attention/named_array.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// The order of the last three axes of q, k, v and the output.
enum class AxisOrder {
  htd,  ///< (..., heads, T, d)
  thd,  ///< (..., T, heads, d)
};

struct Layout {
  AxisOrder order = AxisOrder::htd;
  /// Of q, where the last axis holds the heads side by side: (..., T, heads * d).
  std::optional<Index> heads{};
  /// Where sequences begin that are packed behind one another along T, in q and in k and v, as Packing
  /// takes them. Both or neither; only in the order thd, without a batch.
  std::optional<NamedArray> q_offsets{}, k_offsets{};
};

/// An operand as what it holds: a matrix for each head of each entry of the batch, in place.
class HeadMatrices {
 public:
  /// heads   how many the last axis holds; 0: they are an axis of their own, or there is only one
  ///
  /// The rank is at least 2, and `heads` divides the last extent.
  HeadMatrices(const Array& array, AxisOrder order, Index heads);

  std::span<const Index> batch() const { return batch_; }  ///< the extents before these axes
  Index heads() const { return heads_; }
  Index rows() const { return rows_; }        ///< T
  Index columns() const { return columns_; }  ///< d

  /// Head h of entry b, which is counted in C order over the extents `batch`. Those of this operand
  /// are their last ones, or 1 where all entries share it.
  MatrixView matrix(std::span<const Index> batch, Index b, Index h) const;

 private:
  Array array_;
  std::vector<Index> batch_;
  Index heads_ = 1, rows_, columns_;
  bool heads_inside_ = false;  ///< a row of a head follows the row before of the last head
};

}  // namespace sdpa
