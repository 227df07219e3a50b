#include "io/index.h"

#include "fuzz.h"
#include "io/argument.h"
#include "io/declared.h"
#include "io/factor.h"

#include <numeric>
#include <string_view>

using namespace sdpa;

// A word behind the name of a file, for an array of 2 x 3 x 4 integers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kLongestWord = 200;  // messages repeat it
  if (size > kLongestWord) return 0;
  const std::string word = "place" + std::string(data, data + size);
  static const Array array = [] {
    Array numbers(Shape({2, 3, 4}), Dtype::int8);
    std::iota(reinterpret_cast<std::int8_t*>(numbers.mutable_data()),
              reinterpret_cast<std::int8_t*>(numbers.mutable_data()) + 24, std::int8_t{-5});
    return numbers;
  }();
  return fuzz::check([&] {
    const Argument argument = parse_argument(word);
    Array chosen = argument.index ? indexed(array, *argument.index, argument.place) : array;
    if (argument.dtype) chosen = declared(chosen, *argument.dtype, argument.place);
    return argument.factor ? multiplied(chosen, *argument.factor, argument.place) : chosen;
  });
}
