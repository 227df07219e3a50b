#pragma once

#include "array/array.h"
#include "io/output_file.h"

#include <cstddef>
#include <span>

namespace sdpa {

/// Writes an array as decimal text, piece by piece: each row (the last axis) on a line, whatever the
/// axes before it, each number with the fewest digits that read back to the same value of its type;
/// nan, inf and -inf as words, truth values as 1 and 0. Of an array of one axis each number is a line,
/// as numpy.savetxt writes it.
class TextWriter {
 public:
  /// separator   between the numbers of a row
  /// `file` must outlive the writer.
  TextWriter(OutputFile& file, const Shape& shape, Dtype dtype, char separator);

  /// Adds the next values.
  void append(std::span<const std::byte> values);

 private:
  OutputFile& file_;
  Index columns_;
  Dtype dtype_;
  char separator_;
  Index position_ = 0;
};

}  // namespace sdpa
