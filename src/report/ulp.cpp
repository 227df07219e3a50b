#include "report/ulp.h"

#include "array/float_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sdpa {

double unit_roundoff(Dtype dtype) {
  return std::ldexp(1.0, -float_format(dtype).precision);
}

double ulp(double value, Dtype dtype) {
  if (std::isnan(value)) return value;
  const FloatFormat f = float_format(dtype);
  // The power of two at or below |value|; 0 if that is below the normal range of float64.
  constexpr std::uint64_t kExponent = 0x7FF0000000000000;
  const double power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & kExponent);
  const auto power_of_two = [](int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  };
  if (power > power_of_two(f.largest_exponent)) return HUGE_VAL;
  return std::max(power, power_of_two(f.smallest_exponent())) * power_of_two(-f.fraction_bits());
}

Dtype less_precise(Dtype a, Dtype b) {
  const Dtype coarser = float_format(b).precision < float_format(a).precision ? b : a;
  return is_float(coarser) ? coarser : Dtype::float64;
}

std::uint64_t ulp_distance(double a, double b, Dtype dtype) {
  if (a == b) return 0;
  const double a_rounded = rounded(a, dtype), b_rounded = rounded(b, dtype);
  if (!std::isfinite(a_rounded) || !std::isfinite(b_rounded)) return kInfinitelyFar;
  const std::int64_t a_place = ordinal_of(a, dtype), b_place = ordinal_of(b, dtype);
  // Unsigned, because the distance of two float64 can exceed the largest signed number.
  const auto difference = static_cast<std::uint64_t>(a_place) - static_cast<std::uint64_t>(b_place);
  return a_place > b_place ? difference : 0 - difference;
}

}  // namespace sdpa
