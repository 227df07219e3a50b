#include "io/json_writer.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

std::string element_text(double number, Dtype dtype, const Shape& shape, Index position,
                         std::string_view place) {
  if (!std::isfinite(number))
    throw Error(place, shape.index_text(position) + " is " + shortest_text(number, dtype) +
                           ", which JSON cannot hold; .npy can");
  if (dtype == Dtype::boolean) return number != 0 ? "true" : "false";
  return shortest_text(number, dtype);
}

/// What stands between the numbers `position` - 1 and `position`.
std::string brackets_between(const Shape& shape, Index position, bool on_one_line) {
  const auto rank = static_cast<std::size_t>(shape.rank());
  if (position == 0) return std::string(rank, '[');
  std::size_t lists = 0;  // that end before this number
  for (Index block = 1; lists < rank; ++lists) {
    block *= shape.from_end(static_cast<Index>(lists) + 1);
    if (position % block != 0) break;
  }
  if (lists == 0) return ", ";
  const std::string row = on_one_line ? ", " : ",\n" + std::string(rank - lists, ' ');
  return std::string(lists, ']') + row + std::string(lists, '[');
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

void JsonWriter::append(std::span<const std::byte> values) {
  const Index count = static_cast<Index>(values.size()) / size_bytes(dtype_);
  const Array piece(Shape({count}), dtype_, nullptr, values.data());
  constexpr Index kMostAtOnce = 1024;
  double numbers[kMostAtOnce];
  for (Index first = 0; first < count; first += kMostAtOnce) {
    const Index some = std::min(count - first, kMostAtOnce);
    read_elements(piece, first, some, numbers);
    std::string text;
    for (Index i = 0; i < some; ++i, ++position_)
      text += brackets_between(shape_, position_, false) +
              element_text(numbers[i], dtype_, shape_, position_, file_.place());
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

std::string one_line_json(const Array& array, std::string_view place) {
  const Shape& shape = array.shape();
  const Index count = shape.element_count();
  if (count == 0) return empty_text(shape, 0);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  read_elements(array, 0, count, numbers.data());
  std::string text;
  for (Index i = 0; i < count; ++i)
    text += brackets_between(shape, i, true) +
            element_text(numbers[static_cast<std::size_t>(i)], array.dtype(), shape, i, place);
  return text.append(static_cast<std::size_t>(shape.rank()), ']');
}

}  // namespace sdpa
