#include "array/float16.h"

#include "catch.h"

#include <cmath>

using namespace sdpa;

TEST_CASE("float16: known values widen exactly") {
  CHECK(float16_to_double(0x3C00) == 1.0);
  CHECK(float16_to_double(0xC000) == -2.0);
  CHECK(float16_to_double(0x7BFF) == 65504.0);
  CHECK(float16_to_double(0x0001) == std::ldexp(1.0, -24));
  CHECK(float16_to_double(0x7C00) == HUGE_VAL);
  CHECK(std::isnan(float16_to_double(0x7E00)));
}

TEST_CASE("bfloat16: known values widen exactly") {
  CHECK(bfloat16_to_double(0x3F80) == 1.0);
  CHECK(bfloat16_to_double(0x0001) == std::ldexp(1.0, -133));
  CHECK(bfloat16_to_double(0xFF80) == -HUGE_VAL);
}

namespace {

template <class Widen, class Narrow>
void sweep(Widen widen, Narrow narrow) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = widen(half);
    if (std::isnan(value)) {
      REQUIRE(std::isnan(widen(narrow(value))));
      continue;
    }
    REQUIRE(narrow(value) == half);
    if (std::isinf(value) || half == 0x8000) continue;

    // Between a number and the next one away from zero: below the middle, at it (to even), above
    // it. The largest number's upper neighbour would be the next power of two, which rounding takes
    // to infinity.
    const double below = widen(static_cast<std::uint16_t>(half - ((half & 0x7FFF) != 0)));
    const auto next_bits = static_cast<std::uint16_t>(half + 1);
    double next = widen(next_bits);
    if (std::isinf(next)) next = value + (value - below);
    const double middle = value + (next - value) / 2;
    const std::uint16_t even = (half & 1) == 0 ? half : next_bits;
    REQUIRE(narrow(middle) == even);
    REQUIRE(narrow(std::nextafter(middle, value)) == half);
    REQUIRE(narrow(std::nextafter(middle, next)) == next_bits);
  }
}

}  // namespace

TEST_CASE("float16: all 65,536 values, and the middles between them, convert both ways") {
  sweep(float16_to_double, double_to_float16);
}

TEST_CASE("bfloat16: all 65,536 values, and the middles between them, convert both ways") {
  sweep(bfloat16_to_double, double_to_bfloat16);
}
