#include "io/argument.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/decode.h"
#include "io/file.h"
#include "io/quote.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

/// The parts of a word as they stand in it.
struct Parts {
  std::string_view file;
  std::optional<std::string_view> tensor, type, shape;
};

bool is_file(std::string_view name) {
  return name == "-" || file_exists(std::string(name));
}

Parts split(std::string_view word) {
  if (is_file(word)) return {word, {}, {}, {}};
  for (std::size_t hash = word.find('#'); hash != word.npos; hash = word.find('#', hash + 1))
    if (is_file(word.substr(0, hash))) return {word.substr(0, hash), word.substr(hash + 1), {}, {}};

  const std::size_t last = word.rfind(':');
  if (last == word.npos) return {word, {}, {}, {}};
  const Parts with_type{word.substr(0, last), {}, word.substr(last + 1), {}};
  if (parse_dtype(*with_type.type)) return with_type;

  const std::size_t before = with_type.file.rfind(':');
  if (before != word.npos) {
    const Parts with_shape{
        word.substr(0, before), {}, with_type.file.substr(before + 1), with_type.type};
    if (parse_dtype(*with_shape.type) || is_file(with_shape.file)) return with_shape;
  }
  if (is_file(with_type.file)) return with_type;
  return {word, {}, {}, {}};
}

std::string place_of_parts(const Parts& parts) {
  std::string place = parts.file == "-" ? "standard input" : printable(parts.file);
  if (parts.tensor) place.append("#").append(printable(*parts.tensor));
  return place;
}

Dtype type_of(std::string_view word, std::string_view place) {
  if (const auto dtype = parse_dtype(word)) return *dtype;
  throw Error(place, "no type is called " + in_quotes(word) +
                         "; there are float16, bfloat16, float32, float64, int8, uint8, int16, "
                         "uint16, int32, uint32, int64, uint64");
}

Shape shape_of(std::string_view word, std::string_view place) {
  std::vector<Index> extents;
  for (std::string_view rest = word;;) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    const auto extent = parse_integer(rest.substr(0, end));
    if (!extent || *extent < 0)
      throw Error(place, "no shape is written " + in_quotes(word) +
                             "; it is extents joined by x, as 128x64");
    extents.push_back(static_cast<Index>(*extent));
    if (end == rest.size()) return file_shape(std::move(extents), place);
    rest.remove_prefix(end + 1);
  }
}

}  // namespace

Argument parse_argument(std::string_view word) {
  const Parts parts = split(word);
  Argument argument;
  argument.file = parts.file;
  argument.place = place_of_parts(parts);
  if (parts.tensor) argument.tensor = *parts.tensor;
  if (parts.type) argument.dtype = type_of(*parts.type, argument.place);
  if (parts.shape) argument.shape = shape_of(*parts.shape, argument.place);
  return argument;
}

std::string argument_place(std::string_view word) {
  return place_of_parts(split(word));
}

}  // namespace sdpa
