#include "report/non_finite.h"

#include "array/float_format.h"

#include <cstdint>
#include <cstring>

namespace sdpa {

namespace {

/// A number is not finite when its magnitude has the bits of infinity or more, and NaN when they are
/// not infinity's.
template <class Word>
NonFinite find(const Array& array) {
  const FloatFormat format = float_format(array.dtype());
  const auto infinity = static_cast<Word>(format.infinity());
  const auto magnitude_bits = static_cast<Word>(Word(~Word{0}) >> 1);
  NonFinite found;
  const std::byte* data = array.data();
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    Word word;
    std::memcpy(&word, data + i * static_cast<Index>(sizeof word), sizeof word);
    const auto magnitude = static_cast<Word>(word & magnitude_bits);
    if (magnitude < infinity) continue;
    if (found.count++ == 0) found.first = i;
    if (magnitude != infinity || !format.has_infinity) ++found.nans;
  }
  return found;
}

}  // namespace

NonFinite find_non_finite(const Array& array) {
  if (!is_float(array.dtype())) return {};
  switch (size_bytes(array.dtype())) {
    case 1:
      return find<std::uint8_t>(array);
    case 2:
      return find<std::uint16_t>(array);
    case 4:
      return find<std::uint32_t>(array);
    default:
      return find<std::uint64_t>(array);
  }
}

}  // namespace sdpa
