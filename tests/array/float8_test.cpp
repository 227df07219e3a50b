#include "array/float8.h"

#include "array/array.h"
#include "catch.h"

#include <cmath>
#include <cstring>

using namespace sdpa;

namespace {

/// The value that the fields of the format mean (OCP 8-bit floating point specification, table 1).
double by_definition(int bits, int exponent_bits, int bias) {
  const int fraction_bits = 7 - exponent_bits;
  const int field = (bits & 0x7F) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
  const double value =
      field == 0 ? std::ldexp(fraction, 1 - bias - fraction_bits)
                 : std::ldexp((1 << fraction_bits) + fraction, field - bias - fraction_bits);
  return (bits & 0x80) != 0 ? -value : value;
}

}  // namespace

TEST_CASE("float8: every number of e4m3fn is what its fields say") {
  for (int bits = 0; bits < 256; ++bits) {
    const double value = float8_e4m3fn_to_double(static_cast<std::uint8_t>(bits));
    if ((bits & 0x7F) == 0x7F)
      CHECK(std::isnan(value));
    else
      CHECK(value == by_definition(bits, 4, 7));
    if (!std::isnan(value)) CHECK(double_to_float8_e4m3fn(value) == bits);
  }
}

TEST_CASE("float8: every number of e5m2 is what its fields say") {
  for (int bits = 0; bits < 256; ++bits) {
    const double value = float8_e5m2_to_double(static_cast<std::uint8_t>(bits));
    const int magnitude = bits & 0x7F;
    if (magnitude > 0x7C)
      CHECK(std::isnan(value));
    else if (magnitude == 0x7C)
      CHECK(value == (bits == 0x7C ? HUGE_VAL : -HUGE_VAL));
    else
      CHECK(value == by_definition(bits, 5, 15));
    if (!std::isnan(value)) CHECK(double_to_float8_e5m2(value) == bits);
  }
}

TEST_CASE("float8: beyond the largest number, e4m3fn has NaN and e5m2 infinity") {
  for (const double value : {464.0000001, 480.0, 496.0, 511.9, 512.0, 1e300, HUGE_VAL}) {
    CHECK(double_to_float8_e4m3fn(value) == 0x7F);
    CHECK(double_to_float8_e4m3fn(-value) == 0xFF);
    CHECK(rounded(value, Dtype::float8_e4m3fn) == HUGE_VAL);
    CHECK(rounded(-value, Dtype::float8_e4m3fn) == -HUGE_VAL);
  }
  CHECK(double_to_float8_e4m3fn(464) == 0x7E);  // a tie: 448 has the even fraction
  CHECK(double_to_float8_e4m3fn(std::nan("")) == 0x7F);
  CHECK(double_to_float8_e5m2(61439.99) == 0x7B);
  CHECK(double_to_float8_e5m2(61440) == 0x7C);  // a tie
  CHECK(double_to_float8_e5m2(HUGE_VAL) == 0x7C);
  CHECK(double_to_float8_e5m2(-1e300) == 0xFC);
}

TEST_CASE("float8: ties go to the even fraction, also among subnormals") {
  CHECK(double_to_float8_e4m3fn(0x1p-10) == 0x00);
  CHECK(double_to_float8_e4m3fn(0x3p-10) == 0x02);
  CHECK(double_to_float8_e4m3fn(std::nextafter(0x1p-10, 1)) == 0x01);
  CHECK(double_to_float8_e4m3fn(1.0625) == 0x38);
  CHECK(double_to_float8_e4m3fn(1.1875) == 0x3A);
  CHECK(double_to_float8_e5m2(1.125) == 0x3C);
  CHECK(double_to_float8_e5m2(1.375) == 0x3E);
}

TEST_CASE("float8: arrays of it are read and written") {
  Array array(Shape({4}), Dtype::float8_e4m3fn);
  const double values[] = {1.5, -0.0, -1000, std::nan("")};
  store_rounded(values, 4, Dtype::float8_e4m3fn, array.mutable_data());
  const std::uint8_t wanted[] = {0x3C, 0x00, 0x7F, 0x7F};
  CHECK(std::memcmp(array.data(), wanted, 4) == 0);
  CHECK(array.at(0) == 1.5);
  CHECK(all_finite(array, 0, 2));
  CHECK_FALSE(all_finite(array, 1, 2));
}

TEST_CASE("float8: shortest texts") {
  CHECK(shortest_text(448, Dtype::float8_e4m3fn) == "450");
  CHECK(shortest_text(0x1p-9, Dtype::float8_e4m3fn) == "0.002");
  CHECK(shortest_text(57344, Dtype::float8_e5m2) == "60000");
}
