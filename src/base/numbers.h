#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sdpa {

/// The fewest digits that read back to the same value of the argument's type: 0.1f is "0.1".
/// Not a number and the infinities are "nan", "inf" and "-inf".
std::string shortest_text(double value);
std::string shortest_text(float value);

/// The whole word as a number, without regard to the locale; nothing if any character is left over
/// or the value does not fit.
std::optional<double> parse_double(std::string_view word);
std::optional<long long> parse_integer(std::string_view word);

}  // namespace sdpa
