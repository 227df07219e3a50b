#pragma once

#include <cstdint>

namespace sdpa {

/// Conversions of the two 16-bit float types. Widening is exact; narrowing rounds once, to nearest,
/// ties to even, and overflows to infinity. A NaN stays a NaN and keeps its sign. Formats: IEEE
/// 754-2019, table 3.5 (binary16); bfloat16 has the exponent of binary32 and 8 bits of precision.
double float16_to_double(std::uint16_t bits);
double bfloat16_to_double(std::uint16_t bits);
std::uint16_t double_to_float16(double value);
std::uint16_t double_to_bfloat16(double value);

}  // namespace sdpa
