#include "array/array.h"
#include "catch.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace sdpa;

namespace {

/// Bits of a NaN with a sign, stored as `dtype`.
template <class Word>
Word stored_nan(Dtype dtype) {
  const double nan = std::copysign(std::numeric_limits<double>::quiet_NaN(), -1.0);
  std::byte bytes[sizeof(Word)];
  store_rounded(&nan, 1, dtype, bytes);
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

TEST_CASE("array: a NaN is stored with the same bits, whatever sign the processor gave it") {
  CHECK(stored_nan<std::uint16_t>(Dtype::float16) == 0x7E00);
  CHECK(stored_nan<std::uint16_t>(Dtype::bfloat16) == 0x7FC0);
  CHECK(stored_nan<std::uint32_t>(Dtype::float32) == 0x7FC00000);
  CHECK(stored_nan<std::uint64_t>(Dtype::float64) == 0x7FF8000000000000);
}
