#include "array/float16.h"

#include <bit>
#include <cmath>

namespace sdpa {

namespace {

/// A 16-bit format: one sign bit, `exponent_bits`, `fraction_bits`.
struct Format {
  int exponent_bits;
  int fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int largest_exponent_field() const { return (1 << exponent_bits) - 1; }
};

constexpr Format kFloat16{5, 10};
constexpr Format kBfloat16{8, 7};

double widen(std::uint16_t bits, Format format) {
  const double sign = (bits & 0x8000) ? -1.0 : 1.0;
  const int field = (bits >> format.fraction_bits) & format.largest_exponent_field();
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  if (field == format.largest_exponent_field())
    return fraction != 0 ? std::copysign(std::nan(""), sign) : sign * HUGE_VAL;
  if (field == 0) return sign * std::ldexp(fraction, 1 - format.bias() - format.fraction_bits);
  return sign * std::ldexp(fraction + (1 << format.fraction_bits),
                           field - format.bias() - format.fraction_bits);
}

std::uint16_t narrow(double value, Format format) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const int infinity = format.largest_exponent_field() << format.fraction_bits;
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | (1 << (format.fraction_bits - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0) return sign;

  // In units of the last place of its binade (or of the subnormals) the magnitude is an exact
  // double below 2^(fraction_bits + 1); the current rounding mode, to nearest even, then rounds it
  // once. A carry runs into the exponent field by itself, up to infinity.
  int exponent = std::ilogb(magnitude);
  if (exponent > format.bias()) return static_cast<std::uint16_t>(sign | infinity);
  const int smallest_exponent = 1 - format.bias();
  if (exponent < smallest_exponent) exponent = smallest_exponent;
  const double units = std::ldexp(magnitude, format.fraction_bits - exponent);
  const int rounded = static_cast<int>(std::nearbyint(units));
  const int field_below = exponent + format.bias() - 1;
  return static_cast<std::uint16_t>(sign | ((field_below << format.fraction_bits) + rounded));
}

}  // namespace

double float16_to_double(std::uint16_t bits) {
  return widen(bits, kFloat16);
}

double bfloat16_to_double(std::uint16_t bits) {
  const std::uint32_t word = static_cast<std::uint32_t>(bits) << 16;
  return std::bit_cast<float>(word);
}

std::uint16_t double_to_float16(double value) {
  return narrow(value, kFloat16);
}

std::uint16_t double_to_bfloat16(double value) {
  return narrow(value, kBfloat16);
}

}  // namespace sdpa
