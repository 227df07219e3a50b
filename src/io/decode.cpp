#include "io/decode.h"

#include "base/error.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace sdpa {

namespace {

static_assert(std::endian::native == std::endian::little,
              "Array holds the byte order of the machine, which is taken to be that of the files");

/// Rounding to float64 changes nothing if the bits from the first one to the last one are 53 or
/// fewer.
bool float64_holds(std::uint64_t magnitude) {
  return magnitude == 0 || std::bit_width(magnitude) - std::countr_zero(magnitude) <= 53;
}

bool float64_holds(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return float64_holds(value < 0 ? 0 - bits : bits);
}

template <class Integer>
void require_exact(const Array& array, std::string_view place) {
  const Index count = array.shape().element_count();
  for (Index i = 0; i < count; ++i) {
    Integer value;
    std::memcpy(&value, array.data() + i * static_cast<Index>(sizeof value), sizeof value);
    if (!float64_holds(value))
      throw Error(place, std::string(name(array.dtype())) + " " + std::to_string(value) + " at " +
                             array.shape().index_text(i) +
                             " is not a value of float64, in which sdpa computes");
  }
}

/// Elements of `Size` bytes from Fortran order to C order.
template <std::size_t Size>
void reorder(const std::byte* from, const Shape& shape, std::byte* to) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  const auto extents = shape.extents();
  std::vector<Index> strides(rank);
  Index stride = Size;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = stride;
    stride *= extents[axis];
  }

  std::vector<Index> index(rank);
  const std::byte* row = from;
  for (Index left = shape.element_count(); left > 0; left -= extents.back()) {
    for (Index i = 0; i < extents.back(); ++i, to += Size)
      std::memcpy(to, row + i * strides.back(), Size);
    for (std::size_t axis = rank - 1; axis-- > 0;) {
      row += strides[axis];
      if (++index[axis] < extents[axis]) break;
      row -= extents[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

void reorder(const std::byte* from, const FileLayout& layout, std::byte* to) {
  switch (size_bytes(layout.dtype)) {
    case 1:
      return reorder<1>(from, layout.shape, to);
    case 2:
      return reorder<2>(from, layout.shape, to);
    case 4:
      return reorder<4>(from, layout.shape, to);
    case 8:
      return reorder<8>(from, layout.shape, to);
  }
}

void swap_bytes(std::byte* data, Index count, Index size) {
  for (Index i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

Array new_array(const FileLayout& layout, std::string_view place) {
  try {
    return Array(layout.shape, layout.dtype);
  } catch (const Error& error) {
    throw Error(place, error.what());
  }
}

Array converted(const FileBytes& data, const FileLayout& layout, std::string_view place) {
  Array array = new_array(layout, place);
  if (layout.fortran_order && layout.shape.rank() > 1)
    reorder(data.bytes.data(), layout, array.mutable_data());
  else if (!data.bytes.empty())
    std::memcpy(array.mutable_data(), data.bytes.data(), data.bytes.size());
  if (layout.big_endian)
    swap_bytes(array.mutable_data(), layout.shape.element_count(), size_bytes(layout.dtype));
  return array;
}

bool is_aligned(const std::byte* data, Index alignment) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(alignment) == 0;
}

}  // namespace

Shape file_shape(std::vector<Index> extents, std::string_view place) {
  if (static_cast<Index>(extents.size()) > kMostAxes)
    throw Error(place, "a shape of " + std::to_string(extents.size()) + " axes, the most is " +
                           std::to_string(kMostAxes));
  try {
    return Shape(std::move(extents));
  } catch (const Error& error) {
    throw Error(place, error.what());
  }
}

void require_data_size(std::size_t size, const FileLayout& layout, std::string_view place) {
  const Index needed = layout.shape.element_count() * size_bytes(layout.dtype);
  if (static_cast<Index>(size) != needed)
    throw Error(place, std::to_string(size) + " bytes of data, shape " + layout.shape.text() +
                           " of " + std::string(name(layout.dtype)) + " needs " +
                           std::to_string(needed));
}

Array decode(const FileBytes& data, const FileLayout& layout, std::string_view place) {
  require_data_size(data.bytes.size(), layout, place);
  const bool as_it_lies = !layout.big_endian &&
                          (!layout.fortran_order || layout.shape.rank() <= 1) &&
                          is_aligned(data.bytes.data(), size_bytes(layout.dtype));
  const Array array = as_it_lies ? Array(layout.shape, layout.dtype, data.owner, data.bytes.data())
                                 : converted(data, layout, place);
  if (layout.dtype == Dtype::int64) require_exact<std::int64_t>(array, place);
  if (layout.dtype == Dtype::uint64) require_exact<std::uint64_t>(array, place);
  return array;
}

}  // namespace sdpa
