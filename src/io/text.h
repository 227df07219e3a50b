#pragma once

#include "array/array.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace sdpa {

/// Whether bytes begin as decimal text may: no control characters but those of lines and blanks.
bool is_text(std::span<const std::byte> bytes);

/// Reads decimal text: a row a line, numbers separated by blanks, tabs, commas or semicolons, # before
/// a comment, nan and inf as words. A first line of nothing but words is a header: it is left out, and a
/// note says so.
///
/// dtype   each number becomes the nearest one of this float type in one rounding; the array is of
///         float64 all the same. An integer type counts as float64.
/// shape   of the array, whatever the lines; absent: (lines, numbers a line)
///
/// Throws Error that begins with `place` and names the line if a word is no number or too large for the
/// type, if a field is empty, if commas and semicolons are mixed (a comma may then be a decimal point), if
/// lines differ in length, or if there are no numbers or not as many as the shape says.
Array read_text(std::span<const std::byte> bytes, Dtype dtype, const std::optional<Shape>& shape,
                std::string_view place);

/// How many numbers read_text would find, judged by their characters; nothing if there are other words.
/// With this what could be raw numbers or text by its size is told apart.
std::optional<Index> count_text_numbers(std::span<const std::byte> bytes);

}  // namespace sdpa
