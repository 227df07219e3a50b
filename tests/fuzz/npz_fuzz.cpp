#include "io/npz.h"

#include "fuzz.h"

using namespace sdpa;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file = fuzz::bytes_of(data, size);
  fuzz::check([&] { return open_npz(file, "place"); });
  return fuzz::check([&] { return open_npz(file, "place", Dtype::bfloat16); });
}
