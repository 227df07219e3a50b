#include "io/safetensors.h"

#include "fuzz.h"

using namespace sdpa;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file = fuzz::bytes_of(data, size);
  if (!is_safetensors(file.bytes)) return 0;
  return fuzz::check([&] { return open_safetensors(file, "place"); });
}
