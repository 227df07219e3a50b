#pragma once

#include "array/float_format.h"

#include <bit>
#include <cstdint>

namespace sdpa {

/// Conversions of the two 16-bit float types. Widening is exact; narrowing rounds once, to nearest,
/// ties to even, and overflows to infinity. A NaN stays a NaN and keeps its sign. Formats: IEEE
/// 754-2019, table 3.5 (binary16); bfloat16 has the exponent of binary32 and 8 bits of precision.
inline double float16_to_double(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16, magnitude = bits & 0x7FFFU;
  // As a float32 the exponent is 112 too small, for subnormals too. Infinity and NaN have the
  // largest exponent of all.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  const std::uint32_t special = magnitude >= 0x7C00U ? 0x7F800000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

inline double bfloat16_to_double(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// The same for any format of at most 16 bits. Where it has no infinity, NaN stands for that.
std::uint16_t narrowed(double value, FloatFormat format);

std::uint16_t double_to_float16(double value);
std::uint16_t double_to_bfloat16(double value);

}  // namespace sdpa
