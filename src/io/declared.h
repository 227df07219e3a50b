#pragma once

#include "array/array.h"

#include <string_view>

namespace sdpa {

/// The array as the type that the user says its numbers are of:
/// the bits of it, if the array is of integers and the type is a float of the same 8 or 16 bits;
/// else the same values, each of which the type must hold exactly. A NaN stays a NaN.
///
/// Throws Error that begins with `place` and names the first value that the type does not hold, or if
/// the array is of integers and the type is any other float: their bits are none of it, and integers are
/// not called floats.
Array declared(const Array& array, Dtype dtype, std::string_view place);

}  // namespace sdpa
