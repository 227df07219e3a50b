#pragma once

#include "array/array.h"

#include <string_view>

namespace sdpa {

/// A note if the bits that are taken for bfloat16 look like float16: read as the wrong one of the two, the
/// logarithms of numbers spread eight times as far. `array` is of bfloat16.
void note_float16_bits(const Array& array, std::string_view place);

}  // namespace sdpa
