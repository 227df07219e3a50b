#include "io/factor.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/decimal.h"
#include "io/quote.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace sdpa {

namespace {

/// A finite number other than 0 is +-odd times 2^exponent.
struct Odd {
  std::uint64_t odd;
  int exponent;
};

Odd odd_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::fabs(value), &exponent);
  const auto bits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const int zeros = std::countr_zero(bits);
  return {bits >> zeros, exponent - 53 + zeros};
}

__extension__ using Wide = unsigned __int128;

int width(Wide value) {
  const auto upper = static_cast<std::uint64_t>(value >> 64);
  return upper != 0 ? 64 + std::bit_width(upper)
                    : std::bit_width(static_cast<std::uint64_t>(value));
}

/// Why float64 does not hold the product of two finite numbers other than 0; empty if it does.
std::string why_not_exact(const Odd& a, const Odd& b) {
  const Wide product = Wide{a.odd} * b.odd;  // odd, too
  const int bits = width(product), lowest = a.exponent + b.exponent;
  if (bits > 53) return "needs " + std::to_string(bits) + " bits, float64 has 53";
  if (lowest < -1074)
    return "has a bit of 2^" + std::to_string(lowest) + ", float64 ends at 2^-1074";
  if (lowest + bits > 1024) return "is too large for float64";
  return "";
}

}  // namespace

Factor parse_factor(std::string_view word, std::string_view place) {
  std::optional<double> value;
  if (word.starts_with("2^")) {
    const auto power = parse_integer(word.substr(2));
    if (power && *power >= -1074 && *power <= 1023)
      value = std::ldexp(1.0, static_cast<int>(*power));
  } else if (word.ends_with('f') && !is_word_of_non_finite(word)) {
    value = nearest_to_decimal(word.substr(0, word.size() - 1), Dtype::float32);
  } else {
    value = nearest_to_decimal(word, Dtype::float64);
  }
  if (!value || !std::isfinite(*value))
    throw Error(place, "no factor is written " + in_quotes(word) +
                           "; it is a decimal, one with f behind it for float32, or 2^N, as "
                           "int8*0.0173f or int16*2^-11");
  return {*value, std::string(word)};
}

Array multiplied(const Array& array, const Factor& factor, std::string_view place) {
  Array products(array.shape(), Dtype::float64);
  auto* out = reinterpret_cast<double*>(products.mutable_data());
  const Index count = array.shape().element_count();
  read_elements(array, 0, count, out);
  if (count == 0) return products;
  const Odd scale = factor.value != 0 ? odd_of(factor.value) : Odd{1, 0};
  for (Index i = 0; i < count; ++i) {
    const double value = out[i];
    if (!std::isfinite(value)) continue;
    if (value != 0 && factor.value != 0)
      if (const std::string why = why_not_exact(odd_of(value), scale); !why.empty())
        throw Error(place, std::string(name(array.dtype())) + " " +
                               (is_float(array.dtype()) ? shortest_text(value, array.dtype())
                                                        : shortest_text(value)) +
                               " at " + array.shape().index_text(i) + " times " +
                               in_quotes(factor.word) + " " + why);
    out[i] = value * factor.value;
  }
  return products;
}

}  // namespace sdpa
