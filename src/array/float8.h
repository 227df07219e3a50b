#pragma once

#include "array/float16.h"

#include <bit>
#include <cstdint>

namespace sdpa {

/// Conversions of the two 8-bit float types. Widening is exact; narrowing rounds once, to nearest,
/// ties to even. float8_e5m2 overflows to infinity; float8_e4m3fn has none, and what is beyond its
/// largest number (448; from 464 on, which would round to more) becomes NaN, as infinities do.
inline double float8_e5m2_to_double(std::uint8_t bits) {
  return float16_to_double(static_cast<std::uint16_t>(bits << 8));  // of which it is the upper half
}

inline double float8_e4m3fn_to_double(std::uint8_t bits) {
  const std::uint32_t sign = (bits & 0x80U) << 24, magnitude = bits & 0x7FU;
  // As a float32 the exponent is 120 too small.
  const float scaled = std::bit_cast<float>(magnitude << 20) * 0x1p120F;
  const std::uint32_t special = magnitude == 0x7FU ? 0x7FC00000U : 0U;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

inline std::uint8_t double_to_float8_e4m3fn(double value) {
  return static_cast<std::uint8_t>(narrowed(value, float_format(Dtype::float8_e4m3fn)));
}

inline std::uint8_t double_to_float8_e5m2(double value) {
  return static_cast<std::uint8_t>(narrowed(value, float_format(Dtype::float8_e5m2)));
}

}  // namespace sdpa
