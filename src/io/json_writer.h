#pragma once

#include "array/array.h"
#include "io/output_file.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace sdpa {

/// Writes an array as JSON, piece by piece: nested arrays, each row (the last axis) on a
/// line, each number with the fewest digits that read back to the same value of its type. An array
/// without elements is written as far as JSON can show it: shape (0, 4) is [], (3, 0) is
/// [[],[],[]].
class JsonWriter {
 public:
  /// `file` must outlive the writer. Throws Error if the array is empty but would take millions of
  /// brackets to show.
  JsonWriter(OutputFile& file, const Shape& shape, Dtype dtype);

  /// Adds the next values. Throws Error that names file and index at a NaN or an infinity.
  void append(std::span<const std::byte> values);

  /// Writes what belongs behind the last value.
  void finish();

 private:
  OutputFile& file_;
  Shape shape_;
  Dtype dtype_;
  Index position_ = 0;
};

/// The array as JSON on one line, without its end. Throws Error that begins with `place` as append()
/// does.
std::string one_line_json(const Array& array, std::string_view place);

}  // namespace sdpa
