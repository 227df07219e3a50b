#include "io/text_writer.h"

#include <algorithm>

namespace sdpa {

TextWriter::TextWriter(OutputFile& file, const Shape& shape, Dtype dtype, char separator)
    : file_(file),
      columns_(shape.rank() > 1 ? shape.from_end(1) : 1),
      dtype_(dtype),
      separator_(separator) {}

void TextWriter::append(std::span<const std::byte> values) {
  const Index count = static_cast<Index>(values.size()) / size_bytes(dtype_);
  const Array piece(Shape({count}), dtype_, nullptr, values.data());
  constexpr Index kMostAtOnce = 1024;
  double numbers[kMostAtOnce];
  for (Index first = 0; first < count; first += kMostAtOnce) {
    const Index some = std::min(count - first, kMostAtOnce);
    read_elements(piece, first, some, numbers);
    std::string text;
    for (Index i = 0; i < some; ++i) {
      text += is_float(dtype_) ? shortest_text(numbers[i], dtype_)
                               : shortest_text(numbers[i], Dtype::float64);
      text += ++position_ % columns_ == 0 ? '\n' : separator_;
    }
    file_.write(text);
  }
}

}  // namespace sdpa
