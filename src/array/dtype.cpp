#include "array/dtype.h"

#include "array/float16.h"
#include "array/float8.h"
#include "base/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace sdpa {

namespace {

struct Description {
  Dtype dtype;
  std::string_view name;
  std::array<std::string_view, 6> other_names;  // filled up with empty ones
  Index size_bytes;
  bool is_float;
};

constexpr Description kDescriptions[] = {
    {Dtype::float16, "float16", {"f16", "fp16", "half"}, 2, true},
    {Dtype::bfloat16, "bfloat16", {"bf16"}, 2, true},
    {Dtype::float32, "float32", {"f32", "fp32", "float", "single"}, 4, true},
    {Dtype::float64, "float64", {"f64", "fp64", "double"}, 8, true},
    {Dtype::int8, "int8", {}, 1, false},
    {Dtype::uint8, "uint8", {}, 1, false},
    {Dtype::int16, "int16", {"i16"}, 2, false},
    {Dtype::uint16, "uint16", {"u16"}, 2, false},
    {Dtype::int32, "int32", {"i32"}, 4, false},
    {Dtype::uint32, "uint32", {"u32"}, 4, false},
    {Dtype::int64, "int64", {"i64"}, 8, false},
    {Dtype::uint64, "uint64", {"u64"}, 8, false},
    {Dtype::boolean, "bool", {"boolean"}, 1, false},
    {Dtype::float8_e4m3fn,
     "float8_e4m3fn",
     {"e4m3fn", "e4m3", "float8_e4m3", "fp8_e4m3", "fp8_e4m3fn", "f8_e4m3"},
     1,
     true},
    {Dtype::float8_e5m2, "float8_e5m2", {"e5m2", "fp8_e5m2", "f8_e5m2"}, 1, true},
};

const Description& description(Dtype dtype) {
  return kDescriptions[static_cast<int>(dtype)];
}

/// The decimal of `digits` significant digits nearest to `value`.
double nearest_decimal(double value, int digits) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 std::chars_format::scientific, digits - 1)
                       .ptr;
  double decimal = 0;
  std::from_chars(buffer, end, decimal);
  return decimal;
}

/// Shortest decimal, of at most 5 digits for 11 significant bits, that `narrow` takes back to the
/// value. Above a power of two the numbers lie twice as far apart as below it: when the nearest
/// decimal is just too far below, the one on the other side may do.
template <class Narrow>
std::string shortest_of_16_bits(double value, Narrow narrow) {
  const auto bits = narrow(value);
  for (int digits = 1;; ++digits) {
    const double nearest = nearest_decimal(value, digits);
    if (narrow(nearest) == bits) return shortest_text(nearest);
    const double other = nearest_decimal(value + (value - nearest), digits);
    if (narrow(other) == bits) return shortest_text(other);
  }
}

}  // namespace

std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> all;
  for (const Description& d : kDescriptions) all.push_back(d.dtype);
  return all;
}

Index size_bytes(Dtype dtype) {
  return description(dtype).size_bytes;
}

bool is_float(Dtype dtype) {
  return description(dtype).is_float;
}

std::vector<Dtype> float_types() {
  std::vector<Dtype> types;
  for (const Description& one : kDescriptions)
    if (one.is_float) types.push_back(one.dtype);
  return types;
}

std::string_view name(Dtype dtype) {
  return description(dtype).name;
}

std::optional<Dtype> parse_dtype(std::string_view typed) {
  std::string word(typed);
  for (char& c : word)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (word.empty()) return std::nullopt;
  for (const Description& d : kDescriptions)
    if (word == d.name || std::ranges::find(d.other_names, word) != d.other_names.end())
      return d.dtype;
  return std::nullopt;
}

Dtype result_type(Dtype a, Dtype b) {
  if (!is_float(a) || !is_float(b)) return Dtype::float64;
  if (a == b) return a;
  const auto size = [](Dtype dtype) { return size_bytes(dtype); };
  const Dtype larger = size(a) < size(b) ? b : a;
  if (size(a) != size(b)) return larger;  // float16 and bfloat16 hold both types of 8 bits
  return size(a) == 1 ? Dtype::float16 : Dtype::float32;
}

double rounded(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return float16_to_double(double_to_float16(value));
    case Dtype::bfloat16:
      return bfloat16_to_double(double_to_bfloat16(value));
    case Dtype::float32:
      return static_cast<float>(value);
    case Dtype::float8_e4m3fn: {
      const double nearest = float8_e4m3fn_to_double(double_to_float8_e4m3fn(value));
      return nearest == nearest || value != value ? nearest : std::copysign(HUGE_VAL, value);
    }
    case Dtype::float8_e5m2:
      return float8_e5m2_to_double(double_to_float8_e5m2(value));
    default:
      return value;
  }
}

std::string shortest_text(double value, Dtype dtype) {
  if (value != value || value - value != 0) return shortest_text(value);
  switch (dtype) {
    case Dtype::float16:
      return shortest_of_16_bits(value, double_to_float16);
    case Dtype::bfloat16:
      return shortest_of_16_bits(value, double_to_bfloat16);
    case Dtype::float32:
      return shortest_text(static_cast<float>(value));
    case Dtype::float8_e4m3fn:
      return shortest_of_16_bits(value, double_to_float8_e4m3fn);
    case Dtype::float8_e5m2:
      return shortest_of_16_bits(value, double_to_float8_e5m2);
    default:
      return shortest_text(value);
  }
}

}  // namespace sdpa
