#pragma once

#include "array/array.h"
#include "io/file.h"

#include <string_view>
#include <vector>

namespace sdpa {

/// How numbers lie in a file.
struct FileLayout {
  Dtype dtype;
  Shape shape;
  bool big_endian = false;
  bool fortran_order = false;
};

/// The most axes that any form of file may have: numpy's own limit, and a bound for hostile files.
constexpr Index kMostAxes = 32;

/// Shape of a file. Throws Error if it has more than kMostAxes axes or is one that Shape refuses.
Shape file_shape(std::vector<Index> extents, std::string_view place);

/// Throws Error that begins with `place` if `size` bytes of data are more or fewer than the layout
/// says.
void require_data_size(std::size_t size, const FileLayout& layout, std::string_view place);

/// The array that `data` holds: in place if the layout is already that of Array, else converted.
///
/// Throws Error that begins with `place` as require_data_size does, or if a 64-bit integer is not a
/// value of float64.
Array decode(const FileBytes& data, const FileLayout& layout, std::string_view place);

}  // namespace sdpa
