#include "io/json.h"

#include "fuzz.h"

using namespace sdpa;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const FileBytes file = fuzz::bytes_of(data, size);
  fuzz::check([&] { return read_json(file.bytes, "place"); });
  fuzz::check([&] { return read_json(file.bytes, "place", Dtype::float16); });
  if (!is_json_object(file.bytes)) return 0;
  return fuzz::check([&] { return open_json(file.bytes, "place"); });
}
