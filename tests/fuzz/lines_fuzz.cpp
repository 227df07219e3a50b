#include "io/line_reader.h"

#include "fuzz.h"
#include "io/json.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string_view>

using namespace sdpa;

// Each line, one after the other, as a case; together they are the bytes that came in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("lines", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  LineReader lines("/proc/self/fd/" + std::to_string(file));
  std::string all;
  while (const auto line = lines.next()) {
    all.append(*line).append("\n");
    const auto bytes = std::as_bytes(std::span(*line));
    if (is_json_object(bytes)) fuzz::check([&] { return open_json(bytes, "place"); });
  }
  close(file);
  if (size > 0 && data[size - 1] != '\n') all.pop_back();
  if (all != std::string_view(reinterpret_cast<const char*>(data), size)) std::abort();
  return 0;
}
