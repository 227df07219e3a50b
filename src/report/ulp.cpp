#include "report/ulp.h"

#include "array/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sdpa {

namespace {

/// Significant bits, the hidden one included, and the exponents of the smallest and the largest
/// normal binade (IEEE 754-2019, table 3.5, and bfloat16).
struct Format {
  int precision;
  int smallest_exponent;
  int largest_exponent;
};

Format format(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return {11, -14, 15};
    case Dtype::bfloat16:
      return {8, -126, 127};
    case Dtype::float32:
      return {24, -126, 127};
    default:
      return {53, -1022, 1023};
  }
}

/// Magnitude bits with their sign: consecutive numbers of the type are consecutive integers.
template <class Bits>
std::int64_t ordered(Bits bits) {
  constexpr Bits kSign = Bits(Bits(1) << (8 * sizeof(Bits) - 1));
  const auto magnitude = static_cast<std::int64_t>(bits & Bits(kSign - 1));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::int64_t ordered(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return ordered(double_to_float16(value));
    case Dtype::bfloat16:
      return ordered(double_to_bfloat16(value));
    case Dtype::float32:
      return ordered(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    default:
      return ordered(std::bit_cast<std::uint64_t>(value));
  }
}

}  // namespace

double unit_roundoff(Dtype dtype) {
  return std::ldexp(1.0, -format(dtype).precision);
}

double smallest_subnormal(Dtype dtype) {
  const Format f = format(dtype);
  return std::ldexp(1.0, f.smallest_exponent - (f.precision - 1));
}

double ulp(double value, Dtype dtype) {
  if (std::isnan(value)) return value;
  const Format f = format(dtype);
  if (std::isinf(value)) return HUGE_VAL;
  if (value == 0) return smallest_subnormal(dtype);
  const int exponent = std::ilogb(value);
  if (exponent > f.largest_exponent) return HUGE_VAL;
  return std::ldexp(1.0, std::max(exponent, f.smallest_exponent) - (f.precision - 1));
}

Dtype less_precise(Dtype a, Dtype b) {
  const Dtype coarser = format(b).precision < format(a).precision ? b : a;
  return is_float(coarser) ? coarser : Dtype::float64;
}

std::uint64_t ulp_distance(double a, double b, Dtype dtype) {
  if (a == b) return 0;
  const double a_rounded = rounded(a, dtype), b_rounded = rounded(b, dtype);
  if (!std::isfinite(a_rounded) || !std::isfinite(b_rounded)) return kInfinitelyFar;
  const std::int64_t a_place = ordered(a, dtype), b_place = ordered(b, dtype);
  // Unsigned, because the distance of two float64 can exceed the largest signed number.
  const auto difference = static_cast<std::uint64_t>(a_place) - static_cast<std::uint64_t>(b_place);
  return a_place > b_place ? difference : 0 - difference;
}

}  // namespace sdpa
