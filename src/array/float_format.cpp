#include "array/float_format.h"

#include "array/float16.h"
#include "array/float8.h"

#include <bit>
#include <cmath>

namespace sdpa {

namespace {

/// The bits of all numbers but their sign.
std::uint64_t magnitude_mask(Dtype dtype) {
  return (std::uint64_t{1} << (8 * size_bytes(dtype) - 1)) - 1;
}

}  // namespace

std::uint64_t bits_of(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return double_to_float16(value);
    case Dtype::bfloat16:
      return double_to_bfloat16(value);
    case Dtype::float32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Dtype::float8_e4m3fn:
      return double_to_float8_e4m3fn(value);
    case Dtype::float8_e5m2:
      return double_to_float8_e5m2(value);
    default:
      return std::bit_cast<std::uint64_t>(value);
  }
}

double from_bits(std::uint64_t bits, Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return float16_to_double(static_cast<std::uint16_t>(bits));
    case Dtype::bfloat16:
      return bfloat16_to_double(static_cast<std::uint16_t>(bits));
    case Dtype::float32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Dtype::float8_e4m3fn:
      return float8_e4m3fn_to_double(static_cast<std::uint8_t>(bits));
    case Dtype::float8_e5m2:
      return float8_e5m2_to_double(static_cast<std::uint8_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

std::int64_t ordinal_of(double value, Dtype dtype) {
  const std::uint64_t mask = magnitude_mask(is_float(dtype) ? dtype : Dtype::float64);
  const std::uint64_t bits = bits_of(value, dtype);
  const auto magnitude = static_cast<std::int64_t>(bits & mask);
  return (bits & ~mask) != 0 ? -magnitude : magnitude;
}

double smallest_subnormal(Dtype dtype) {
  const FloatFormat format = float_format(dtype);
  return std::ldexp(1.0, format.smallest_exponent() - format.fraction_bits());
}

double next_above(double x, Dtype dtype) {
  const std::uint64_t bits = bits_of(x + 0.0, dtype);
  const bool negative = (bits & ~magnitude_mask(dtype)) != 0;
  if (!negative && bits + 1 == float_format(dtype).infinity()) return HUGE_VAL;
  return from_bits(negative ? bits - 1 : bits + 1, dtype) + 0.0;
}

}  // namespace sdpa
