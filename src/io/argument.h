#pragma once

#include "array/dtype.h"
#include "array/shape.h"

#include <optional>
#include <string>
#include <string_view>

namespace sdpa {

/// One word of the command line that names an array.
struct Argument {
  std::string file;                   ///< "-" is standard input
  std::optional<std::string> tensor;  ///< FILE#TENSOR
  std::optional<Dtype> dtype;         ///< FILE:TYPE
  std::optional<Shape> shape;         ///< FILE:TYPE:SHAPE
  std::string place;                  ///< how messages call it: FILE or FILE#TENSOR
};

/// Takes the word apart. A file that has the whole word for its name is that file, whatever colons
/// and # are in it; of several #, the first behind which the name of a file ends counts.
///
/// TYPE is a word that parse_dtype knows, SHAPE is extents joined by x, as 128x64. Throws Error
/// that begins with the file if they are not.
Argument parse_argument(std::string_view word);

/// Only its place, for a word that need not be right.
std::string argument_place(std::string_view word);

}  // namespace sdpa
