#pragma once

#include "array/array.h"

namespace sdpa {

/// A matrix in the memory of an array, which it keeps alive: the elements of a row adjoin, and each
/// row begins a fixed number of elements behind the one before.
class MatrixView {
 public:
  MatrixView() = default;

  /// The whole of an array of two axes.
  MatrixView(const Array& matrix)
      : MatrixView(matrix, 0, matrix.shape()[0], matrix.shape()[1], matrix.shape()[1]) {}

  /// `rows` rows of `columns` elements. The first begins at element `first` of the array in C order,
  /// each other one `row_step` elements behind the one before.
  MatrixView(const Array& array, Index first, Index rows, Index columns, Index row_step)
      : array_(array), first_(first), rows_(rows), columns_(columns), row_step_(row_step) {}

  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  Dtype dtype() const { return array_.dtype(); }

  /// The `row`-th row in memory.
  const std::byte* row(Index row) const {
    return array_.data() + element(row, 0) * size_bytes(dtype());
  }
  /// Whether the rows follow one another without a gap.
  bool rows_adjoin() const { return row_step_ == columns_ || rows_ <= 1; }

  /// Rows first ... first + count - 1.
  MatrixView part(Index first, Index count) const {
    return {array_, element(first, 0), count, columns_, row_step_};
  }

  /// The matrix as an array: in the same memory where its rows adjoin, else copied.
  Array array() const;

  /// One element, exactly.
  double at(Index row, Index column) const { return array_.at(element(row, column)); }

  /// Rows first ... first + count - 1 to out [count][columns], as read_elements converts them.
  template <class Number>
  void read_rows(Index first, Index count, Number* out) const {
    if (rows_adjoin()) return read_elements(array_, element(first, 0), 1, count * columns_, out);
    for (Index r = 0; r < count; ++r) {
      if (r + kRowsAhead < count) fetch_row(first + r + kRowsAhead);
      read_elements(array_, element(first + r, 0), 1, columns_, out + r * columns_);
    }
  }

  /// Column `column` to out [rows], exactly.
  void read_column(Index column, double* out) const {
    read_elements(array_, element(0, column), row_step_, rows_, out);
  }

  /// Whether rows first ... first + count - 1 hold no NaN and no infinity.
  bool rows_finite(Index first, Index count) const {
    if (rows_adjoin()) return all_finite(array_, element(first, 0), count * columns_);
    for (Index r = 0; r < count; ++r)
      if (!all_finite(array_, element(first + r, 0), columns_)) return false;
    return true;
  }

 private:
  /// Rows that lie apart are asked of memory before they are read: processors foresee neighbours only.
  static constexpr Index kRowsAhead = 8;
  void fetch_row(Index row) const {
    constexpr Index kLine = 64;
    const std::byte* begin = this->row(row);
    for (Index at = 0; at < columns_ * size_bytes(dtype()); at += kLine)
      __builtin_prefetch(begin + at);
  }

  /// Its position in the array.
  Index element(Index row, Index column) const { return first_ + row * row_step_ + column; }

  Array array_;
  Index first_ = 0, rows_ = 0, columns_ = 0, row_step_ = 0;
};

}  // namespace sdpa
