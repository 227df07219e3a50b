#pragma once

#include "array/dtype.h"

#include <cstdint>

namespace sdpa {

/// How numbers of a binary floating-point type lie in its bits: sign, exponent, fraction (IEEE
/// 754-2019, section 3.4 and table 3.5; bfloat16 has the exponents of binary32).
struct FloatFormat {
  int precision;         ///< significant bits of a normal number, the hidden one included
  int largest_exponent;  ///< of the largest binade; the bias of the exponent field, too

  constexpr int smallest_exponent() const { return 1 - largest_exponent; }  ///< of normal numbers
  constexpr int fraction_bits() const { return precision - 1; }

  /// The bits of infinity: those of the exponent, which all that is not finite has.
  constexpr std::uint64_t infinity() const {
    return (2 * static_cast<std::uint64_t>(largest_exponent) + 1) << fraction_bits();
  }
};

/// Of a float type; an integer type counts as float64, whose values its elements are.
constexpr FloatFormat float_format(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return {11, 15};
    case Dtype::bfloat16:
      return {8, 127};
    case Dtype::float32:
      return {24, 127};
    default:
      return {53, 1023};
  }
}

/// The bits of a number after rounding it to the float type, and the number that has such bits.
std::uint64_t bits_of(double value, Dtype dtype);
double from_bits(std::uint64_t bits, Dtype dtype);

/// Numbers of the type counted from zero, negative ones downwards: neighbours differ by one.
/// Both zeros are 0. `value` is rounded first and not a NaN.
std::int64_t ordinal_of(double value, Dtype dtype);

/// The smallest positive number.
double smallest_subnormal(Dtype dtype);

/// The next larger number of the float type after x, which is one of its numbers and not +inf;
/// infinity after the largest.
double next_above(double x, Dtype dtype);

}  // namespace sdpa
