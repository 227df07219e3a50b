#include "io/decimal.h"

#include "array/float_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <compare>
#include <string>
#include <system_error>

namespace sdpa {

namespace {

/// A decimal without its sign: 0.d1d2d3... times 10^exponent, where d1 is not zero. No digits: 0.
struct Decimal {
  std::string digits;
  long long exponent = 0;
};

/// `word` is a number as std::from_chars takes it.
Decimal decimal_of(std::string_view word) {
  constexpr long long kFar = 1'000'000'000'000;  // as good as infinitely far
  if (word.starts_with('-')) word.remove_prefix(1);
  const std::size_t e = std::min(word.find_first_of("eE"), word.size());
  Decimal decimal;
  bool behind_point = false;
  for (const char c : word.substr(0, e)) {
    if (c == '.') {
      behind_point = true;
      continue;
    }
    if (c != '0' || !decimal.digits.empty()) {
      decimal.digits += c;
      decimal.exponent += !behind_point;
    } else {
      decimal.exponent -= behind_point;
    }
  }
  while (decimal.digits.ends_with('0')) decimal.digits.pop_back();
  if (e == word.size()) return decimal;
  std::string_view power = word.substr(e + 1);
  if (power.starts_with('+')) power.remove_prefix(1);
  long long ten = 0;
  const auto result = std::from_chars(power.data(), power.data() + power.size(), ten);
  if (result.ec == std::errc::result_out_of_range) ten = power.starts_with('-') ? -kFar : kFar;
  decimal.exponent += std::clamp(ten, -kFar, kFar);
  return decimal;
}

/// All digits of a positive double.
Decimal decimal_of(double value) {
  constexpr int kMostDigits = 767;  // that a double can have
  char text[kMostDigits + 16];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, kMostDigits - 1)
          .ptr;
  return decimal_of(std::string_view(text, end));
}

/// Halfway from a number of a type shorter than float64 to the next; from the largest one to where the
/// next would be.
double middle_above(double number, Dtype dtype) {
  const double next = next_above(number, dtype);
  if (std::isfinite(next)) return number / 2 + next / 2;
  return number + (number + next_above(-number, dtype)) / 2;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.exponent != b.exponent) return a.exponent <=> b.exponent;
  return a.digits.compare(b.digits) <=> 0;
}

}  // namespace

std::optional<double> nearest_to_decimal(std::string_view word, Dtype dtype) {
  if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
  double nearest = 0;
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, nearest);
  if (rest != end || (error != std::errc() && error != std::errc::result_out_of_range))
    return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    const double far = decimal_of(word).exponent > 0 ? HUGE_VAL : 0.0;
    return word.starts_with('-') ? -far : far;
  }
  if (!is_float(dtype) || dtype == Dtype::float64 || !std::isfinite(nearest)) return nearest;

  // Rounding to float64 first keeps the order, so it changes what follows only where it ends on the
  // middle between two numbers of the type, and then the decimal itself says on which side it is.
  const double size = std::fabs(nearest);
  const double lower = rounded(std::nextafter(size, 0.0), dtype);
  const double upper = rounded(std::nextafter(size, HUGE_VAL), dtype);
  double result = rounded(size, dtype);
  if (size != 0 && lower != upper && size == middle_above(lower, dtype)) {
    const auto side = decimal_of(word) <=> decimal_of(size);
    if (side < 0) result = lower;
    if (side > 0) result = upper;
  }
  return std::copysign(result, nearest);
}

bool is_word_of_non_finite(std::string_view word) {
  if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

}  // namespace sdpa
