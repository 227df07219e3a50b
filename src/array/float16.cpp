#include "array/float16.h"

#include "array/float_format.h"

#include <cmath>

namespace sdpa {

namespace {

std::uint16_t narrow(double value, FloatFormat format) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const auto infinity = static_cast<std::uint16_t>(format.infinity());
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | (1 << (format.fraction_bits() - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  if (magnitude == 0) return sign;

  // In units of the last place of its binade (or of the subnormals) the magnitude is an exact
  // double below 2^precision; the current rounding mode, to nearest even, then rounds it once. A
  // carry runs into the exponent field by itself, up to infinity.
  int exponent = std::ilogb(magnitude);
  if (exponent > format.largest_exponent) return sign | infinity;
  if (exponent < format.smallest_exponent()) exponent = format.smallest_exponent();
  const double units = std::ldexp(magnitude, format.fraction_bits() - exponent);
  const int rounded = static_cast<int>(std::nearbyint(units));
  const int field_below = exponent + format.largest_exponent - 1;
  return static_cast<std::uint16_t>(sign | ((field_below << format.fraction_bits()) + rounded));
}

}  // namespace

std::uint16_t double_to_float16(double value) {
  return narrow(value, float_format(Dtype::float16));
}

std::uint16_t double_to_bfloat16(double value) {
  return narrow(value, float_format(Dtype::bfloat16));
}

}  // namespace sdpa
