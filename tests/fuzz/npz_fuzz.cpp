#include "io/npz.h"

#include "fuzz.h"

using namespace sdpa;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::check([&] { return read_npz_case(fuzz::bytes_of(data, size), "place"); });
}
