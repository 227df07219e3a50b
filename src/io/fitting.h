#pragma once

#include "array/shape.h"

#include <string>
#include <vector>

namespace sdpa {

/// A shape as the user writes it: "128x64".
std::string shape_word(const Shape& shape);

/// What to propose where `count` numbers were found but the shape needs more or fewer: "as 4x64" for
/// each shape near by that fits, with another first extent, another last one, or more such arrays.
std::vector<std::string> fitting_shapes(Index count, const Shape& shape);

/// "; they would fit as 4x64, as 2x128 or as 2x2x64", or nothing.
std::string proposal_text(const std::vector<std::string>& words);

}  // namespace sdpa
