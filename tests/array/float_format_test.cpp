#include "array/float_format.h"

#include "catch.h"

#include <cmath>

using namespace sdpa;

TEST_CASE("float_format: infinity has all bits of the exponent and no other") {
  CHECK(float_format(Dtype::float16).infinity() == 0x7c00);
  CHECK(float_format(Dtype::bfloat16).infinity() == 0x7f80);
  CHECK(float_format(Dtype::float32).infinity() == 0x7f800000);
  CHECK(float_format(Dtype::float64).infinity() == 0x7ff0000000000000);
}

TEST_CASE("float_format: the types of 8 bits") {
  using enum Dtype;
  CHECK(float_format(float8_e5m2).infinity() == 0x7c);
  CHECK(from_bits(0x7c, float8_e5m2) == HUGE_VAL);
  CHECK(from_bits(0x7b, float8_e5m2) == 57344);
  CHECK(smallest_subnormal(float8_e5m2) == 0x1p-16);
  CHECK(float_format(float8_e4m3fn).infinity() == 0x7f);
  CHECK(std::isnan(from_bits(0x7f, float8_e4m3fn)));
  CHECK(from_bits(0x7e, float8_e4m3fn) == 448);
  CHECK(from_bits(0x08, float8_e4m3fn) == 0x1p-6);
  CHECK(smallest_subnormal(float8_e4m3fn) == 0x1p-9);
  CHECK(next_above(448, float8_e4m3fn) == HUGE_VAL);
  CHECK(next_above(-HUGE_VAL, float8_e4m3fn) == -448);
  CHECK(ordinal_of(-0x1p-9, float8_e4m3fn) == -1);
}

TEST_CASE("float_format: the ends of each type") {
  CHECK(smallest_subnormal(Dtype::float16) == 0x1p-24);
  CHECK(smallest_subnormal(Dtype::bfloat16) == 0x1p-133);
  CHECK(smallest_subnormal(Dtype::float32) == 0x1p-149);
  CHECK(smallest_subnormal(Dtype::float64) == 0x1p-1074);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    const FloatFormat format = float_format(dtype);
    const double largest =
        std::ldexp(2 - std::ldexp(1, 1 - format.precision), format.largest_exponent);
    CHECK(std::isfinite(largest));
    CHECK(from_bits(format.infinity() - 1, dtype) == largest);
    CHECK(from_bits(format.infinity(), dtype) == HUGE_VAL);
    CHECK(bits_of(std::ldexp(1, format.smallest_exponent()), dtype) ==
          std::uint64_t{1} << format.fraction_bits());
  }
}

TEST_CASE("float_format: neighbours are counted through both zeros") {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    const double smallest = smallest_subnormal(dtype);
    CHECK(ordinal_of(0.0, dtype) == 0);
    CHECK(ordinal_of(-0.0, dtype) == 0);
    CHECK(ordinal_of(smallest, dtype) == 1);
    CHECK(ordinal_of(-smallest, dtype) == -1);
    CHECK(ordinal_of(next_above(1, dtype), dtype) == ordinal_of(1, dtype) + 1);
    CHECK(ordinal_of(next_above(-1, dtype), dtype) == ordinal_of(-1, dtype) + 1);
  }
}

TEST_CASE("float_format: what comes next") {
  CHECK(next_above(-0.0, Dtype::float16) == 0x1p-24);
  CHECK_FALSE(std::signbit(next_above(-0x1p-24, Dtype::float16)));
  CHECK(next_above(65504, Dtype::float16) == HUGE_VAL);
  CHECK(next_above(1, Dtype::bfloat16) == 1 + 0x1p-7);
  CHECK(next_above(-1, Dtype::bfloat16) == -1 + 0x1p-8);
  CHECK(next_above(-HUGE_VAL, Dtype::float32) == -0x1.fffffep127);
  CHECK(next_above(-0.0, Dtype::float64) == 0x1p-1074);
}
