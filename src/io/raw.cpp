#include "io/raw.h"

#include "base/error.h"
#include "io/decode.h"
#include "io/npy.h"

#include <string>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

/// As the user writes it.
std::string shape_word(const std::vector<Index>& extents) {
  std::string word;
  for (const Index extent : extents) {
    if (!word.empty()) word += 'x';
    word += std::to_string(extent);
  }
  return word;
}

/// Float types of which an array of this shape takes `size` bytes.
std::vector<std::string> fitting_types(Index size, const Shape& shape) {
  std::vector<std::string> words;
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    if (shape.element_count() != 0 && shape.element_count() * size_bytes(dtype) == size)
      words.push_back("as " + std::string(name(dtype)));
  return words;
}

/// Shapes that hold `count` elements: another first extent, another last one, or more such arrays.
std::vector<std::string> fitting_shapes(Index count, const Shape& shape) {
  std::vector<std::string> words;
  const std::vector<Index> extents(shape.extents().begin(), shape.extents().end());
  if (shape.element_count() == 0 || count == 0) return words;
  for (const std::size_t axis : {std::size_t{0}, extents.size() - 1}) {
    const Index others = shape.element_count() / extents[axis];
    if (count % others != 0) continue;
    std::vector<Index> changed = extents;
    changed[axis] = count / others;
    words.push_back("as " + shape_word(changed));
    if (extents.size() == 1) break;
  }
  if (count % shape.element_count() == 0) {
    std::vector<Index> longer = extents;
    longer.insert(longer.begin(), count / shape.element_count());
    words.push_back("as " + shape_word(longer));
  }
  return words;
}

}  // namespace

Array read_raw(const FileBytes& file, Dtype dtype, const Shape& shape, std::string_view place) {
  if (is_npy(file.bytes))
    throw Error(place, "is a .npy file, which says its type and shape itself; leave out :" +
                           std::string(name(dtype)) + ":" +
                           shape_word({shape.extents().begin(), shape.extents().end()}));

  const auto size = static_cast<Index>(file.bytes.size());
  if (size != shape.element_count() * size_bytes(dtype)) {
    std::vector<std::string> fitting = fitting_types(size, shape);
    if (size % size_bytes(dtype) == 0)
      for (std::string& word : fitting_shapes(size / size_bytes(dtype), shape))
        fitting.push_back(std::move(word));
    throw Error(place, std::to_string(size) + " bytes, shape " + shape.text() + " of " +
                           std::string(name(dtype)) + " needs " +
                           std::to_string(shape.element_count() * size_bytes(dtype)) +
                           (fitting.empty() ? "" : "; they would fit " + joined(fitting)));
  }
  return decode(file, {dtype, shape}, place);
}

}  // namespace sdpa
