#include "report/non_finite.h"

#include <cstdint>
#include <cstring>

namespace sdpa {

namespace {

/// A number is not finite when all bits of its exponent are set, and then NaN when any of those
/// below is.
template <class Word>
NonFinite find(const Array& array, Word exponent_bits) {
  const auto fraction_bits = static_cast<Word>((exponent_bits & -exponent_bits) - 1);
  NonFinite found;
  const std::byte* data = array.data();
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    Word word;
    std::memcpy(&word, data + i * static_cast<Index>(sizeof word), sizeof word);
    if ((word & exponent_bits) != exponent_bits) continue;
    if (found.count++ == 0) found.first = i;
    if ((word & fraction_bits) != 0) ++found.nans;
  }
  return found;
}

}  // namespace

NonFinite find_non_finite(const Array& array) {
  switch (array.dtype()) {
    case Dtype::float16:
      return find<std::uint16_t>(array, 0x7C00);
    case Dtype::bfloat16:
      return find<std::uint16_t>(array, 0x7F80);
    case Dtype::float32:
      return find<std::uint32_t>(array, 0x7F800000);
    case Dtype::float64:
      return find<std::uint64_t>(array, 0x7FF0000000000000);
    default:
      return {};
  }
}

}  // namespace sdpa
