#include "io/bits_hint.h"

#include "io/note.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace sdpa {

void note_float16_bits(const Array& array, std::string_view place) {
  constexpr Index kMostNumbers = 4096, kFewestNumbers = 16;
  // Standard deviation of the binary logarithm: 1.6 for normal numbers, and what they are read as has
  // eight times that. Between them lie the wildest of real data.
  constexpr double kSuspicious = 6;
  std::vector<double> values(
      static_cast<std::size_t>(std::min(array.shape().element_count(), kMostNumbers)));
  read_elements(array, 0, std::ssize(values), values.data());
  double count = 0, sum = 0, squares = 0;
  int smallest = 1024, largest = -1024;
  for (const double value : values) {
    if (value == 0 || !std::isfinite(value)) continue;
    const int power = std::ilogb(value);
    smallest = std::min(smallest, power);
    largest = std::max(largest, power);
    ++count;
    sum += power;
    squares += static_cast<double>(power) * power;
  }
  if (count < kFewestNumbers ||
      squares / count - sum / count * (sum / count) < kSuspicious * kSuspicious)
    return;
  note(place, "as bfloat16 its numbers spread from 2^" + std::to_string(smallest) + " to 2^" +
                  std::to_string(largest) + "; are they float16?");
}

}  // namespace sdpa
