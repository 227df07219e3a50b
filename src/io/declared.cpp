#include "io/declared.h"

#include "array/float_format.h"
#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

namespace sdpa {

namespace {

struct Range {
  double lowest, beyond;  ///< the integers from the one up to, not including, the other
};

Range range_of(Dtype dtype) {
  if (dtype == Dtype::boolean) return {0, 2};
  const auto bits = static_cast<int>(8 * size_bytes(dtype));
  const bool has_sign = name(dtype).starts_with('i');
  return {has_sign ? -std::ldexp(1.0, bits - 1) : 0, std::ldexp(1.0, has_sign ? bits - 1 : bits)};
}

/// The bits of a value that the type holds; the low ones of the result.
std::uint64_t bits_in(double value, Dtype dtype) {
  if (is_float(dtype)) return bits_of(value, dtype);
  return value < 0 ? 0 - static_cast<std::uint64_t>(-value) : static_cast<std::uint64_t>(value);
}

bool holds(double value, Dtype dtype) {
  if (is_float(dtype)) {
    const double kept = from_bits(bits_of(value, dtype), dtype);
    return kept == value || value != value;
  }
  const auto [lowest, beyond] = range_of(dtype);
  return value >= lowest && value < beyond && std::trunc(value) == value;
}

std::string text_of(double value, Dtype dtype) {
  if (is_float(dtype)) return shortest_text(value, dtype);
  return value < 0 ? std::to_string(static_cast<std::int64_t>(value))
                   : std::to_string(static_cast<std::uint64_t>(value));
}

}  // namespace

Array declared(const Array& array, Dtype dtype, std::string_view place) {
  if (array.dtype() == dtype) return array;
  const bool is_short = size_bytes(dtype) == size_bytes(array.dtype()) && size_bytes(dtype) <= 2;
  const bool is_integer = !is_float(array.dtype()) && array.dtype() != Dtype::boolean;
  if (!is_float(array.dtype()) && is_float(dtype) && !(is_short && is_integer))
    throw Error(place,
                "holds " + std::string(name(array.dtype())) + ", not " + std::string(name(dtype)));
  if (is_short && is_integer && is_float(dtype)) {
    const auto owner = std::make_shared<Array>(array);
    return Array(array.shape(), dtype, owner, array.data());
  }
  Array same(array.shape(), dtype);
  const auto size = static_cast<std::size_t>(size_bytes(dtype));
  constexpr Index kMostAtOnce = 1024;
  double values[kMostAtOnce];
  const Index count = array.shape().element_count();
  for (Index first = 0; first < count; first += kMostAtOnce) {
    const Index some = std::min(count - first, kMostAtOnce);
    read_elements(array, first, some, values);
    for (Index i = 0; i < some; ++i) {
      if (!holds(values[i], dtype))
        throw Error(place, std::string(name(array.dtype())) + " " +
                               text_of(values[i], array.dtype()) + " at " +
                               array.shape().index_text(first + i) + " is not a value of " +
                               std::string(name(dtype)));
      const std::uint64_t bits = bits_in(values[i], dtype);  // little-endian: the low bytes first
      std::memcpy(same.mutable_data() + static_cast<std::size_t>(first + i) * size, &bits, size);
    }
  }
  return same;
}

}  // namespace sdpa
