#pragma once

#include "array/dtype.h"
#include "array/shape.h"

#include <cstddef>
#include <memory>
#include <span>

namespace sdpa {

/// Numbers of one type in C order and in the byte order of this machine. Copies share the memory,
/// which may be a mapped file.
class Array {
 public:
  Array() = default;

  /// An array of zeros. Throws Error without a place if there is no memory for it.
  Array(Shape shape, Dtype dtype);

  /// An array in memory that `owner` keeps alive; `data` is aligned for `dtype` and as long as the
  /// shape says.
  Array(Shape shape, Dtype dtype, std::shared_ptr<const void> owner, const std::byte* data);

  const Shape& shape() const { return shape_; }
  Dtype dtype() const { return dtype_; }
  Index size_bytes() const { return shape_.element_count() * sdpa::size_bytes(dtype_); }
  const std::byte* data() const { return data_; }
  std::span<const std::byte> bytes() const {
    return {data_, static_cast<std::size_t>(size_bytes())};
  }

  /// Memory to write to; only of an array made by the first constructor, or of rows of one, which
  /// copies share.
  std::byte* mutable_data() { return const_cast<std::byte*>(data_); }

  /// The elements from position `first` on as an array of this shape, in the same memory.
  Array part(Index first, Shape shape) const;

  /// Rows first ... first + count - 1 of the outermost axis, in the same memory.
  Array rows(Index first, Index count) const;

  /// The `position`-th of the matrices that the last two axes span, in the same memory. Rank at
  /// least 2.
  Array matrix(Index position) const;

  /// One element, exactly.
  double at(Index position) const;

 private:
  Shape shape_;
  Dtype dtype_ = Dtype::float64;
  std::shared_ptr<const void> owner_;
  const std::byte* data_ = nullptr;
};

/// `count` elements, the first at position `first` in C order and each `step` behind the one before,
/// as `Number` (float or double). Exact for double; for float rounded once, to nearest even. 64-bit
/// integers must be such that float64 holds them, which readers see to.
template <class Number>
void read_elements(const Array& array, Index first, Index step, Index count, Number* out);

/// Elements first ... first + count - 1.
template <class Number>
void read_elements(const Array& array, Index first, Index count, Number* out) {
  read_elements(array, first, 1, count, out);
}

/// Whether elements first ... first + count - 1 hold no NaN and no infinity.
bool all_finite(const Array& array, Index first, Index count);

/// Rounds Number (float or double) once to the float type `dtype` (nearest, ties to even) and stores
/// at `out`; a zero is stored as +0, and every NaN as the quiet one without sign and payload.
template <class Number>
void store_rounded(const Number* values, Index count, Dtype dtype, std::byte* out);

}  // namespace sdpa
