#include "io/quote.h"

namespace sdpa {

namespace {

template <class Keep>
std::string escaped(std::string_view text, Keep keep) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (keep(byte))
      result += character;
    else
      result.append("\\x").append({kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, [](unsigned char byte) { return byte >= 0x20 && byte != 0x7f; });
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  const std::string inside = escaped(
      text.substr(0, kLongest), [](unsigned char byte) { return byte >= 0x20 && byte < 0x7f; });
  return "'" + inside + (text.size() > kLongest ? "...'" : "'");
}

}  // namespace sdpa
