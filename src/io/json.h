#pragma once

#include "io/case.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace sdpa {

/// Reads nested arrays of numbers as float64, of true and false as bool; each number becomes the nearest double, and -0 keeps
/// its sign. A byte order mark at the beginning is skipped. The text is parsed as it is read:
/// beyond it, memory is only what the numbers take.
///
/// An array without numbers has the shape that its lists show: "[[], []]" has (2, 0), "[]" has (0,).
///
/// Throws Error that begins with `place` and says where, if the text is not JSON (NaN and Infinity
/// are not), if a number is too large for float64, if an element is not a number, if lists that
/// belong to one axis differ in length, or if there are more than kMostAxes axes.
Array read_json(std::span<const std::byte> text, std::string_view place);

/// Reads an object with the members "q", "k" and "v", each an array as above, and any of the names
/// in `further` (a _ counts as a -), each an array, a number, true, false or a text. Throws Error
/// also if a member is missing, unknown or given twice.
Case read_json_case(std::span<const std::byte> text, std::string_view place,
                    std::span<const std::string_view> further = {});

}  // namespace sdpa
