#include "attention/layout.h"

namespace sdpa {

HeadMatrices::HeadMatrices(const Array& array, AxisOrder order, Index heads) : array_(array) {
  const std::span<const Index> extents = array.shape().extents();
  rows_ = array.shape().from_end(2);
  columns_ = array.shape().from_end(1);
  std::size_t taken = 2;
  if (heads > 0) {
    heads_ = heads;
    columns_ /= heads;
    heads_inside_ = true;
  } else if (extents.size() > 2) {
    taken = 3;
    heads_ = array.shape().from_end(3);
    heads_inside_ = order == AxisOrder::thd;
    if (heads_inside_) std::swap(heads_, rows_);
  }
  batch_.assign(extents.begin(), extents.end() - static_cast<std::ptrdiff_t>(taken));
}

MatrixView HeadMatrices::matrix(std::span<const Index> batch, Index b, Index h) const {
  Index entry = 0, entries = 1;
  for (std::size_t axis = 1; axis <= batch.size(); ++axis) {
    const Index extent = batch[batch.size() - axis], at = b % extent;
    b /= extent;
    if (axis > batch_.size() || batch_[batch_.size() - axis] == 1) continue;
    entry += at * entries;
    entries *= extent;
  }
  const Index first = entry * heads_ * rows_ * columns_;
  if (heads_inside_) return {array_, first + h * columns_, rows_, columns_, heads_ * columns_};
  return {array_, first + h * rows_ * columns_, rows_, columns_, columns_};
}

}  // namespace sdpa
