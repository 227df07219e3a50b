#include "io/raw.h"

#include "fuzz.h"
#include "io/argument.h"

#include <algorithm>
#include <string_view>

using namespace sdpa;

// The first line is what stands behind the name of the file, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* line_end = std::find(data, data + size, '\n');
  constexpr std::ptrdiff_t kLongestWord = 100;  // its message repeats it
  if (line_end - data > kLongestWord) return 0;
  const std::string word = "place" + std::string(data, line_end);
  const auto* begin = std::min(line_end + 1, data + size);
  const auto rest = static_cast<std::size_t>(data + size - begin);
  return fuzz::check([&] {
    const Argument argument = parse_argument(word);
    if (!argument.shape || !argument.dtype) throw Error("place", "no raw numbers");
    return read_raw(fuzz::bytes_of(begin, rest), *argument.dtype, *argument.shape, argument.place);
  });
}
