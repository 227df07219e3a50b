#include "io/json_writer.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// The part of an array without elements that is inside `depth` brackets.
std::string empty_text(const Shape& shape, Index depth) {
  std::string text = "[";
  for (Index i = 0; i < shape[depth]; ++i) {
    if (i != 0) text += ",";
    text += empty_text(shape, depth + 1);
  }
  return text + "]";
}

/// Lists that empty_text shows inside each other's innermost list.
Index empty_lists(const Shape& shape) {
  Index lists = 1;
  for (const Index extent : shape.extents()) {
    if (extent == 0) break;
    lists *= extent;
  }
  return lists;
}

}  // namespace

JsonWriter::JsonWriter(OutputFile& file, const Shape& shape, Dtype dtype)
    : file_(file), shape_(shape), dtype_(dtype) {
  constexpr Index kMostEmptyLists = 1'000'000;
  if (shape.element_count() == 0 && empty_lists(shape) > kMostEmptyLists)
    throw Error(file.place(), "shape " + shape.text() +
                                  " has no elements, but as JSON it would be " +
                                  std::to_string(empty_lists(shape)) + " empty lists");
}

std::string JsonWriter::between(Index position) const {
  const auto rank = static_cast<std::size_t>(shape_.rank());
  if (position == 0) return std::string(rank, '[');
  std::size_t lists = 0;  // that end before this number
  for (Index block = 1; lists < rank; ++lists) {
    block *= shape_.from_end(static_cast<Index>(lists) + 1);
    if (position % block != 0) break;
  }
  if (lists == 0) return ", ";
  return std::string(lists, ']') + ",\n" + std::string(rank - lists, ' ') + std::string(lists, '[');
}

void JsonWriter::append(std::span<const std::byte> values) {
  const Index count = static_cast<Index>(values.size()) / size_bytes(dtype_);
  const Array piece(Shape({count}), dtype_, nullptr, values.data());
  constexpr Index kMostAtOnce = 1024;
  double numbers[kMostAtOnce];
  for (Index first = 0; first < count; first += kMostAtOnce) {
    const Index some = std::min(count - first, kMostAtOnce);
    read_elements(piece, first, some, numbers);
    std::string text;
    for (Index i = 0; i < some; ++i, ++position_) {
      if (!std::isfinite(numbers[i]))
        throw Error(file_.place(), shape_.index_text(position_) + " is " +
                                       shortest_text(numbers[i], dtype_) +
                                       ", which JSON cannot hold; .npy can");
      text += between(position_);
      if (dtype_ == Dtype::boolean)
        text += numbers[i] != 0 ? "true" : "false";
      else
        text += shortest_text(numbers[i], dtype_);
    }
    file_.write(text);
  }
}

void JsonWriter::finish() {
  if (shape_.element_count() == 0)
    file_.write(empty_text(shape_, 0));
  else
    file_.write(std::string(static_cast<std::size_t>(shape_.rank()), ']'));
  file_.write("\n");
}

}  // namespace sdpa
