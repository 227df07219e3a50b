#include "io/argument.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/decode.h"
#include "io/file.h"
#include "io/quote.h"

#include <algorithm>
#include <utility>

namespace sdpa {

namespace {

using Part = std::optional<std::string_view>;

/// The parts of a word as they stand in it.
struct Parts {
  std::string_view file;
  Part member, type, shape, index;
};

constexpr std::string_view kHex = "hex-";

bool is_file(std::string_view name) {
  return name == "-" || file_exists(std::string(name));
}

std::string_view without_hex(std::string_view type) {
  return type.starts_with(kHex) ? type.substr(kHex.size()) : type;
}

/// Whether the word begins as a type with all that may belong to it.
bool is_type(std::string_view word) {
  word = without_hex(word);
  return parse_dtype(word.substr(0, word.find('*'))).has_value();
}

bool is_shape(std::string_view word) {
  return word.find_first_of("0123456789") == 0 && word.find('x') != word.npos &&
         word.find_first_not_of("0123456789x") == word.npos;
}

/// Takes :TYPE, :SHAPE or :TYPE:SHAPE off the end of `name`, if they look so, or if what is before
/// them is all there can be, as `is_whole` says: then whatever is there is meant as one.
template <class IsWhole>
void take_type_and_shape(std::string_view& name, Parts& parts, IsWhole is_whole) {
  const std::size_t last = name.rfind(':');
  if (last == name.npos) return;
  const std::string_view front = name.substr(0, last), end = name.substr(last + 1);
  const std::size_t before = front.rfind(':');
  const bool is_typed = is_type(end);
  if (!is_typed && before != front.npos) {
    const std::string_view file = front.substr(0, before), type = front.substr(before + 1);
    if (is_type(type) || is_whole(file)) {
      parts.type = type;
      parts.shape = end;
      name = file;
      return;
    }
  }
  if (!is_typed && !is_whole(front)) return;
  (is_shape(end) ? parts.shape : parts.type) = end;
  name = front;
}

Parts split(std::string_view word) {
  Parts parts;
  if (!is_file(word) && word.ends_with(']')) {
    const std::size_t open = word.rfind('[');
    if (open != word.npos && open != 0) {
      parts.index = word.substr(open + 1, word.size() - open - 2);
      word = word.substr(0, open);
    }
  }
  parts.file = word;
  if (is_file(word)) return parts;
  for (std::size_t hash = word.find('#'); hash != word.npos; hash = word.find('#', hash + 1))
    if (is_file(word.substr(0, hash))) {
      parts.file = word.substr(0, hash);
      std::string_view member = word.substr(hash + 1);
      take_type_and_shape(member, parts, [](std::string_view) { return false; });
      parts.member = member;
      return parts;
    }
  take_type_and_shape(parts.file, parts, is_file);
  return parts;
}

std::string place_of_parts(const Parts& parts) {
  std::string place = parts.file == "-" ? "standard input" : printable(parts.file);
  if (parts.member) place.append("#").append(printable(*parts.member));
  if (parts.index) place.append("[").append(printable(*parts.index)).append("]");
  return place;
}

Dtype type_of(std::string_view word, std::string_view place) {
  if (const auto dtype = parse_dtype(word)) return *dtype;
  std::string known;
  for (const Dtype dtype : all_dtypes())
    known.append(known.empty() ? "" : ", ").append(name(dtype));
  throw Error(place, "no type is called " + in_quotes(word) + "; there are " + known);
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
  if (parts.member) argument.member = *parts.member;
  if (parts.type) {
    argument.is_hex = parts.type->starts_with(kHex);
    const std::string_view type = without_hex(*parts.type);
    const std::size_t star = type.find('*');
    argument.dtype = type_of(type.substr(0, star), argument.place);
    if (star != type.npos) argument.factor = parse_factor(type.substr(star + 1), argument.place);
  }
  if (parts.shape) argument.shape = shape_of(*parts.shape, argument.place);
  if (parts.index) argument.index = parse_index(*parts.index, argument.place);
  return argument;
}

std::string argument_place(std::string_view word) {
  return place_of_parts(split(word));
}

}  // namespace sdpa
