#include "io/json_text.h"

#include "base/error.h"
#include "io/quote.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

namespace sdpa {

namespace {

bool is_of_word(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) || std::strchr("+-.", character);
}

}  // namespace

std::string_view json_text(std::span<const std::byte> bytes, std::string_view place) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const std::size_t zero = text.find('\0'); zero != text.npos)
    throw Error(place, "byte " + std::to_string(zero) + " is 0, which no JSON in UTF-8 holds");
  return text;
}

void throw_json_error(std::string_view text, std::size_t position, std::string_view place) {
  std::size_t begin = std::min(position != 0 ? position - 1 : 0, text.size());
  std::size_t end = std::min(begin + 1, text.size());
  if (begin < end && is_of_word(text[begin])) {
    while (begin > 0 && is_of_word(text[begin - 1])) --begin;
    while (end < text.size() && is_of_word(text[end])) ++end;
  }
  const std::string_view before = text.substr(0, begin);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  throw Error(
      place, "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " +
                 (begin == end ? "the text ends too early"
                               : in_quotes(text.substr(begin, end - begin)) + " is not JSON here"));
}

}  // namespace sdpa
