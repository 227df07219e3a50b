#include "io/text.h"

#include "fuzz.h"

using namespace sdpa;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file = fuzz::bytes_of(data, size);
  const auto count = count_text_numbers(file.bytes);
  if (!is_text(file.bytes)) return 0;
  fuzz::check([&] { return read_text(file.bytes, Dtype::float64, {}, "place"); });
  if (!count) return 0;
  return fuzz::check(
      [&] { return read_text(file.bytes, Dtype::float16, Shape({*count}), "place"); });
}
