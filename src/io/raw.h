#pragma once

#include "array/array.h"
#include "io/file.h"

#include <string_view>

namespace sdpa {

/// Numbers without a header, little-endian and in C order, of which the user has said type and
/// shape. The array shares the file's memory where that is aligned for the type.
///
/// Throws Error that begins with `place` if the file has not exactly as many bytes as they need;
/// the message gives both sizes and the types and shapes near by that would fit. Throws Error if
/// the file is a .npy file, whose header would be taken for numbers.
Array read_raw(const FileBytes& file, Dtype dtype, const Shape& shape, std::string_view place);

}  // namespace sdpa
