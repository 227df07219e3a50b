#include "io/npy.h"

#include "fuzz.h"

using namespace sdpa;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file = fuzz::bytes_of(data, size);
  fuzz::check([&] { return read_npy(file, "place"); });
  fuzz::check([&] { return read_npy(file, "place", Dtype::float16); });
  return fuzz::check([&] { return read_npy(file, "place", Dtype::bfloat16); });
}
