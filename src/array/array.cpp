#include "array/array.h"

#include "array/float16.h"
#include "array/float8.h"
#include "array/float_format.h"
#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

template <class Stored, class Number, class Convert>
void read_as(const std::byte* from, Index step, Index count, Number* out, Convert convert) {
  const auto* stored = reinterpret_cast<const Stored*>(from);
  if (step == 1)  // which compilers can turn into vectors
    for (Index i = 0; i < count; ++i) out[i] = static_cast<Number>(convert(stored[i]));
  else
    for (Index i = 0; i < count; ++i) out[i] = static_cast<Number>(convert(stored[i * step]));
}

template <class Stored, class Number, class Convert>
void store_as(const Number* values, Index count, std::byte* out, Convert convert) {
  const Stored negative_zero = convert(Number(-0.0));
  const Stored nan = convert(std::numeric_limits<Number>::quiet_NaN());
  for (Index i = 0; i < count; ++i) {
    // Processors differ in the sign and payload of the NaNs they make.
    Stored value = std::isnan(values[i]) ? nan : convert(values[i]);
    if (value == negative_zero) value = 0;
    std::memcpy(out + i * static_cast<Index>(sizeof(Stored)), &value, sizeof value);
  }
}

// Lambdas, unlike pointers to functions, become part of the loops that call them.
constexpr auto kSame = [](auto value) { return value; };
constexpr auto kFromFloat16 = [](std::uint16_t bits) { return float16_to_double(bits); };
constexpr auto kFromBfloat16 = [](std::uint16_t bits) { return bfloat16_to_double(bits); };
constexpr auto kFromE4m3fn = [](std::uint8_t bits) { return float8_e4m3fn_to_double(bits); };
constexpr auto kFromE5m2 = [](std::uint8_t bits) { return float8_e5m2_to_double(bits); };

}  // namespace

Array::Array(Shape shape, Dtype dtype) : shape_(std::move(shape)), dtype_(dtype) {
  const auto size = static_cast<std::size_t>(size_bytes());
  void* memory = std::calloc(size != 0 ? size : 1, 1);
  if (memory == nullptr) throw Error("no memory for an array of shape " + shape_.text());
  owner_ = std::shared_ptr<void>(memory, std::free);
  data_ = static_cast<std::byte*>(memory);
}

Array::Array(Shape shape, Dtype dtype, std::shared_ptr<const void> owner, const std::byte* data)
    : shape_(std::move(shape)), dtype_(dtype), owner_(std::move(owner)), data_(data) {}

Array Array::part(Index first, Shape shape) const {
  return Array(std::move(shape), dtype_, owner_, data_ + first * sdpa::size_bytes(dtype_));
}

Array Array::rows(Index first, Index count) const {
  std::vector<Index> extents(shape_.extents().begin(), shape_.extents().end());
  const Index row = extents[0] != 0 ? shape_.element_count() / extents[0] : 0;
  extents[0] = count;
  return part(first * row, Shape(std::move(extents)));
}

Array Array::matrix(Index position) const {
  Shape shape({shape_.from_end(2), shape_.from_end(1)});
  const Index first = position * shape.element_count();
  return part(first, std::move(shape));
}

double Array::at(Index position) const {
  double value = 0;
  read_elements(*this, position, 1, &value);
  return value;
}

template <class Number>
void read_elements(const Array& array, Index first, Index step, Index count, Number* out) {
  const std::byte* from = array.data() + first * size_bytes(array.dtype());
  switch (array.dtype()) {
    case Dtype::float16:
      return read_as<std::uint16_t>(from, step, count, out, kFromFloat16);
    case Dtype::bfloat16:
      return read_as<std::uint16_t>(from, step, count, out, kFromBfloat16);
    case Dtype::float32:
      return read_as<float>(from, step, count, out, kSame);
    case Dtype::float64:
      return read_as<double>(from, step, count, out, kSame);
    case Dtype::int8:
      return read_as<std::int8_t>(from, step, count, out, kSame);
    case Dtype::uint8:
      return read_as<std::uint8_t>(from, step, count, out, kSame);
    case Dtype::int16:
      return read_as<std::int16_t>(from, step, count, out, kSame);
    case Dtype::uint16:
      return read_as<std::uint16_t>(from, step, count, out, kSame);
    case Dtype::int32:
      return read_as<std::int32_t>(from, step, count, out, kSame);
    case Dtype::uint32:
      return read_as<std::uint32_t>(from, step, count, out, kSame);
    case Dtype::int64:
      return read_as<std::int64_t>(from, step, count, out, kSame);
    case Dtype::uint64:
      return read_as<std::uint64_t>(from, step, count, out, kSame);
    case Dtype::boolean:
      return read_as<std::uint8_t>(from, step, count, out, kSame);
    case Dtype::float8_e4m3fn:
      return read_as<std::uint8_t>(from, step, count, out, kFromE4m3fn);
    case Dtype::float8_e5m2:
      return read_as<std::uint8_t>(from, step, count, out, kFromE5m2);
  }
}

namespace {

/// Whether no number has all the bits of the mask set, as NaN and infinities have those of the
/// exponent.
template <class Bits>
bool none_has(const std::byte* from, Index count, std::uint64_t mask_bits) {
  const auto mask = static_cast<Bits>(mask_bits);
  constexpr Index kAtOnce = 4096;
  for (Index first = 0; first < count; first += kAtOnce) {
    const Index last = std::min(first + kAtOnce, count);
    Bits found = 0;  // as wide as the numbers, so that compilers can turn the loop into vectors
    for (Index i = first; i < last; ++i) {
      Bits value;
      std::memcpy(&value, from + i * static_cast<Index>(sizeof value), sizeof value);
      found |= (value & mask) == mask ? Bits{1} : Bits{0};
    }
    if (found != 0) return false;
  }
  return true;
}

}  // namespace

bool all_finite(const Array& array, Index first, Index count) {
  if (!is_float(array.dtype())) return true;
  const std::byte* from = array.data() + first * size_bytes(array.dtype());
  const std::uint64_t infinity = float_format(array.dtype()).infinity();
  switch (size_bytes(array.dtype())) {
    case 1:
      return none_has<std::uint8_t>(from, count, infinity);
    case 2:
      return none_has<std::uint16_t>(from, count, infinity);
    case 4:
      return none_has<std::uint32_t>(from, count, infinity);
    default:
      return none_has<std::uint64_t>(from, count, infinity);
  }
}

template void read_elements<float>(const Array&, Index, Index, Index, float*);
template void read_elements<double>(const Array&, Index, Index, Index, double*);

template <class Number>
void store_rounded(const Number* values, Index count, Dtype dtype, std::byte* out) {
  switch (dtype) {
    case Dtype::float16:
      return store_as<std::uint16_t>(values, count, out, double_to_float16);
    case Dtype::bfloat16:
      return store_as<std::uint16_t>(values, count, out, double_to_bfloat16);
    case Dtype::float32:
      return store_as<float>(values, count, out, [](Number v) { return static_cast<float>(v); });
    case Dtype::float8_e4m3fn:
      return store_as<std::uint8_t>(values, count, out, [](Number v) {
        const std::uint8_t bits = double_to_float8_e4m3fn(v);
        return bits == 0xFF ? std::uint8_t{0x7F} : bits;  // NaN has no sign, beyond the range, too
      });
    case Dtype::float8_e5m2:
      return store_as<std::uint8_t>(values, count, out, double_to_float8_e5m2);
    case Dtype::float64:
      return store_as<double>(values, count, out, kSame);
    default:
      throw Error(std::string(name(dtype)) + " is not a type of results");
  }
}

template void store_rounded<float>(const float*, Index, Dtype, std::byte*);
template void store_rounded<double>(const double*, Index, Dtype, std::byte*);

}  // namespace sdpa
