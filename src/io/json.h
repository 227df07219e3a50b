#pragma once

#include "io/members.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sdpa {

/// Reads nested arrays of numbers as float64, of true and false as bool. Each number becomes the
/// nearest one of the float type `dtype` (for an integer type, of float64) in one rounding, and -0 keeps
/// its sign. A byte order mark at the beginning is skipped. The text is parsed as it is read: beyond it,
/// memory is only what the numbers take.
///
/// An array without numbers has the shape that its lists show: "[[], []]" has (2, 0), "[]" has (0,).
///
/// Throws Error that begins with `place` and says where, if the text is not JSON (NaN and Infinity
/// are not), if a number is too large for the type, if an element is not a number, if lists that
/// belong to one axis differ in length, or if there are more than kMostAxes axes.
Array read_json(std::span<const std::byte> text, std::string_view place,
                Dtype dtype = Dtype::float64);

/// Whether the text begins an object.
bool is_json_object(std::span<const std::byte> text);

/// Reads an object, of which any member may be anything. Those that are arrays as above, single numbers,
/// true, false or texts can be asked for; for others Error says, when they are, what is wrong with them.
/// Throws Error that begins with `place` if the text is not JSON or not an object, or if a name is given
/// twice.
std::unique_ptr<MemberFile> open_json(std::span<const std::byte> text, std::string_view place,
                                      Dtype dtype = Dtype::float64);

}  // namespace sdpa
