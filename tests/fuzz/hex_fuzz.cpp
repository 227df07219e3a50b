#include "io/hex.h"

#include "fuzz.h"

using namespace sdpa;

// The first byte says type and number of words.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr Dtype kTypes[] = {Dtype::int8, Dtype::float16, Dtype::float32, Dtype::int64};
  const FileBytes file = fuzz::bytes_of(data + 1, size - 1);
  return fuzz::check(
      [&] { return read_hex(file.bytes, kTypes[data[0] & 3], Shape({data[0] >> 2}), "place"); });
}
