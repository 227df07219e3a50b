#include "array/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sdpa {

std::uint16_t narrowed(double value, FloatFormat format) {
  const auto infinity = static_cast<std::uint16_t>(format.infinity());
  const int sign_place = std::bit_width(infinity);
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 1 << sign_place : 0);
  if (std::isnan(value))
    return static_cast<std::uint16_t>(sign | infinity | (1 << (format.fraction_bits() - 1)));
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  if (magnitude == 0) return sign;

  // In units of the last place of its binade (or of the subnormals) the magnitude is an exact
  // double below 2^precision; the current rounding mode, to nearest even, then rounds it once. A
  // carry runs into the exponent field by itself, up to infinity, or beyond it where the binade of
  // infinity holds numbers.
  int exponent = std::ilogb(magnitude);
  if (exponent > format.largest_exponent) return sign | infinity;
  if (exponent < format.smallest_exponent()) exponent = format.smallest_exponent();
  const double units = std::ldexp(magnitude, format.fraction_bits() - exponent);
  const int rounded = static_cast<int>(std::nearbyint(units));
  const int field_below = exponent + format.bias() - 1;
  const int bits = (field_below << format.fraction_bits()) + rounded;
  return static_cast<std::uint16_t>(sign | std::min<int>(bits, infinity));
}

std::uint16_t double_to_float16(double value) {
  return narrowed(value, float_format(Dtype::float16));
}

std::uint16_t double_to_bfloat16(double value) {
  return narrowed(value, float_format(Dtype::bfloat16));
}

}  // namespace sdpa
