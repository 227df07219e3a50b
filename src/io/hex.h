#pragma once

#include "array/array.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace sdpa {

/// Reads hexadecimal words as Verilog's $readmemh does, each the bits of one number of `dtype`, most
/// significant digit first: separated by blanks, commas or lines, with 0x in front or not, _ between digits,
/// comments behind // or within /* */. An @ADDRESS must go on where the words before it end; the
/// first one may be any.
///
/// Throws Error that begins with `place` and names the line if anything else stands there, if a word has
/// more digits than the type has bytes for, or if there are not as many words as the shape needs.
Array read_hex(std::span<const std::byte> bytes, Dtype dtype, const Shape& shape,
               std::string_view place);

}  // namespace sdpa
