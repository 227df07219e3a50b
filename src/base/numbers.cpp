#include "base/numbers.h"

#include <charconv>
#include <system_error>

namespace sdpa {

namespace {

template <class Number>
std::string to_text(Number value) {
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

template <class Number>
std::optional<Number> parse(std::string_view word) {
  Number value{};
  const char* end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

std::string shortest_text(double value) {
  if (value != value) return "nan";
  return to_text(value);
}

std::string shortest_text(float value) {
  if (value != value) return "nan";
  return to_text(value);
}

std::optional<double> parse_double(std::string_view word) {
  return parse<double>(word);
}

std::optional<long long> parse_integer(std::string_view word) {
  return parse<long long>(word);
}

}  // namespace sdpa
