#pragma once

#include "array/dtype.h"
#include "array/shape.h"
#include "io/factor.h"
#include "io/index.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// One word of the command line that names an array:
/// FILE[#NAME][:[hex-]TYPE[*FACTOR]][:SHAPE][[INDEX]].
struct Argument {
  std::string file;                   ///< "-" is standard input
  std::optional<std::string> member;  ///< of a file of several arrays
  std::optional<Dtype> dtype;
  bool is_hex = false;
  std::optional<Factor> factor;
  std::optional<Shape> shape;
  std::optional<std::vector<IndexItem>> index;
  std::string place;  ///< how messages call it: FILE[#NAME][[INDEX]]
};

/// Takes the word apart. A file that has the whole word for its name is that file, whatever colons,
/// brackets and # are in it; of several #, the first behind which the name of a file ends counts.
///
/// TYPE is a word that parse_dtype knows, FACTOR one of parse_factor, SHAPE is extents joined by x, as
/// 128x64, INDEX one of parse_index. Throws Error that begins with the place if they are not.
Argument parse_argument(std::string_view word);

/// Only its place, for a word that need not be right.
std::string argument_place(std::string_view word);

}  // namespace sdpa
