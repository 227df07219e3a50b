#include "oracle/rounding.h"

#include "array/float16.h"
#include "array/float8.h"
#include "catch.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

Ordinal rounded_ordinal(double value, Dtype dtype) {
  Big x(53);
  mpfr_set_d(x, value, MPFR_RNDN);
  return round_to(x, format_of(dtype));
}

/// Every finite number of a 16-bit type, and what lies halfway to its neighbour.
template <class Widen>
void sweep(Dtype dtype, Widen widen) {
  const Format format = format_of(dtype);
  for (Ordinal ordinal = 0; ordinal < format.infinity; ++ordinal) {
    const double value = widen(static_cast<std::uint16_t>(ordinal));
    REQUIRE(mpfr_cmp_d(value_of(ordinal, format), value) == 0);
    REQUIRE(mpfr_cmp_d(value_of(-ordinal, format), -value) == 0);
    REQUIRE(rounded_ordinal(value, dtype) == ordinal);
    REQUIRE(rounded_ordinal(-value, dtype) == -ordinal);

    Big middle = midpoint_after(ordinal, format);
    REQUIRE(round_to(middle, format) == ordinal + ordinal % 2);
    mpfr_nextabove(middle);
    REQUIRE(round_to(middle, format) == ordinal + 1);
    mpfr_nextbelow(middle);
    mpfr_nextbelow(middle);
    REQUIRE(round_to(middle, format) == ordinal);
  }
}

}  // namespace

TEST_CASE("rounding: all numbers of float16 and bfloat16, and the middles between them") {
  sweep(Dtype::float16, float16_to_double);
  sweep(Dtype::bfloat16, bfloat16_to_double);
}

TEST_CASE("rounding: all numbers of 8 bits, and the middles between them") {
  sweep(Dtype::float8_e4m3fn,
        [](auto bits) { return float8_e4m3fn_to_double(static_cast<std::uint8_t>(bits)); });
  sweep(Dtype::float8_e5m2,
        [](auto bits) { return float8_e5m2_to_double(static_cast<std::uint8_t>(bits)); });
}

TEST_CASE("rounding: float32 and float64 numbers stand at their bit patterns") {
  CHECK(rounded_ordinal(1, Dtype::float32) == 0x3F800000);
  CHECK(rounded_ordinal(0x1.fffffep127, Dtype::float32) == 0x7F7FFFFF);
  CHECK(rounded_ordinal(1, Dtype::float64) == 0x3FF0000000000000);
  CHECK(rounded_ordinal(5e-324, Dtype::float64) == 1);
  CHECK(rounded_ordinal(std::numeric_limits<double>::max(), Dtype::float64) == 0x7FEFFFFFFFFFFFFF);
}

TEST_CASE("rounding: what is too large is infinite, what is too small is zero") {
  for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64,
                      Dtype::float8_e4m3fn, Dtype::float8_e5m2}) {
    const Format format = format_of(dtype);
    Big x(64);
    mpfr_set_ui_2exp(x, 1, 100000, MPFR_RNDN);
    CHECK(round_to(x, format) == format.infinity);
    mpfr_neg(x, x, MPFR_RNDN);
    CHECK(round_to(x, format) == -format.infinity);
    mpfr_set_si_2exp(x, -1, -100000, MPFR_RNDN);
    CHECK(round_to(x, format) == 0);
  }
}

TEST_CASE("rounding: a double that the processor narrows to float gives the same float") {
  for (double value : {0.1, 1e-40, 3e-46, 1e38, 3.4028235677973366e38, -2.0 / 3, 16777217.0}) {
    INFO(value);
    const auto expected = static_cast<float>(value);
    float stored;
    store(rounded_ordinal(value, Dtype::float32), Dtype::float32,
          reinterpret_cast<std::byte*>(&stored));
    CHECK(stored == expected);
  }
}
