#pragma once

#include "array/dtype.h"

#include <cstdint>

namespace sdpa {

/// How numbers of a binary floating-point type lie in its bits: sign, exponent, fraction (IEEE
/// 754-2019, section 3.4 and table 3.5; bfloat16 has the exponents of binary32). float8_e5m2 is such
/// a type, too; float8_e4m3fn has numbers in the binade of infinity and only one NaN there, whose
/// magnitude has all bits set (Micikevicius et al., "FP8 formats for deep learning", 2022).
struct FloatFormat {
  int precision;         ///< significant bits of a normal number, the hidden one included
  int largest_exponent;  ///< of the largest binade
  bool has_infinity = true;

  /// Of the exponent field.
  constexpr int bias() const { return has_infinity ? largest_exponent : largest_exponent - 1; }
  constexpr int smallest_exponent() const { return 1 - bias(); }  ///< of normal numbers
  constexpr int fraction_bits() const { return precision - 1; }

  /// The bits of infinity, which all that is not finite has; of NaN where there is no infinity.
  constexpr std::uint64_t infinity() const {
    const std::uint64_t binades = 2 * static_cast<std::uint64_t>(bias()) + 1;
    return has_infinity ? binades << fraction_bits() : ((binades + 1) << fraction_bits()) - 1;
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
    case Dtype::float8_e4m3fn:
      return {4, 8, false};
    case Dtype::float8_e5m2:
      return {3, 15};
    default:
      return {53, 1023};
  }
}

/// The bits of a number after rounding it to the float type, and the number that has such bits. Where
/// there is no infinity, the bits of one, and of what is beyond the largest number, are those of NaN.
std::uint64_t bits_of(double value, Dtype dtype);
double from_bits(std::uint64_t bits, Dtype dtype);

/// Numbers of the type counted from zero, negative ones downwards: neighbours differ by one.
/// Both zeros are 0. `value` is rounded first and not a NaN.
std::int64_t ordinal_of(double value, Dtype dtype);

/// The smallest positive number.
double smallest_subnormal(Dtype dtype);

/// The next larger number of the float type after x, which is one of its numbers and not +inf;
/// infinity after the largest, also in a type that cannot store it.
double next_above(double x, Dtype dtype);

}  // namespace sdpa
