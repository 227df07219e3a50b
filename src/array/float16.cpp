#include "array/float16.h"

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

std::uint16_t double_to_float16(double value) {
  return narrow(value, kFloat16);
}

std::uint16_t double_to_bfloat16(double value) {
  return narrow(value, kBfloat16);
}

}  // namespace sdpa
