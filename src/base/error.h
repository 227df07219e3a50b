#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace sdpa {

/// What went wrong, as one finished sentence: "PLACE: what is wrong, with both values".
/// main prints it behind "sdpa: " and exits with 2.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
  Error(std::string_view place, std::string_view what)
      : std::runtime_error(std::string(place).append(": ").append(what)) {}
};

}  // namespace sdpa
