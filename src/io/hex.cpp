#include "io/hex.h"

#include "base/error.h"
#include "io/decode.h"
#include "io/fitting.h"
#include "io/quote.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sdpa {

namespace {

std::optional<std::uint64_t> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint64_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint64_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint64_t>(c - 'A' + 10);
  return std::nullopt;
}

class Reader {
 public:
  Reader(std::string_view text, Dtype dtype, std::string_view place)
      : text_(text), dtype_(dtype), place_(place) {}

  std::vector<std::byte> words() {
    while (skip_to_word()) {
      const std::size_t begin = position_;
      while (position_ < text_.size() && std::strchr(kSeparators, text_[position_]) == nullptr &&
             !is_at("//") && !is_at("/*"))
        ++position_;
      if (position_ == begin) fail(in_quotes(text_.substr(begin, 1)) + " is not a word");
      const std::string_view word = text_.substr(begin, position_ - begin);
      if (word[0] == '@')
        take_address(word);
      else
        take_word(word);
    }
    return std::move(bytes_);
  }

 private:
  static constexpr const char* kSeparators = " \t\r\n\v\f,";  // and 0, which strchr finds

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(place_, "line " + std::to_string(line_) + ": " + what);
  }

  bool is_at(std::string_view word) const { return text_.substr(position_).starts_with(word); }

  /// To the next word, over blanks and comments. False at the end.
  bool skip_to_word() {
    while (position_ < text_.size()) {
      if (text_[position_] == '\0') fail("a byte of 0, which no text holds");
      if (std::strchr(kSeparators, text_[position_]) != nullptr) {
        line_ += text_[position_++] == '\n';
      } else if (is_at("//")) {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (is_at("/*")) {
        const std::size_t end = text_.find("*/", position_ + 2);
        if (end == text_.npos) fail("the comment has no end");
        line_ += std::count(text_.begin() + static_cast<Index>(position_),
                            text_.begin() + static_cast<Index>(end), '\n');
        position_ = end + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  std::uint64_t value_of(std::string_view digits, std::size_t most, std::string_view word) const {
    std::uint64_t value = 0;
    std::size_t count = 0;
    for (const char c : digits) {
      if (c == '_' && count > 0) continue;
      const auto digit = digit_of(c);
      if (!digit) fail(in_quotes(word) + " is not hexadecimal");
      if (++count > most) continue;
      value = value << 4 | *digit;
    }
    if (count == 0) fail(in_quotes(word) + " is not hexadecimal");
    if (count > most)
      fail(in_quotes(word) + " has " + std::to_string(count) + " digits, " +
           (word[0] == '@' ? "an address" : std::string(name(dtype_))) + " takes " +
           std::to_string(most));
    return value;
  }

  void take_word(std::string_view word) {
    const bool prefixed = word.starts_with("0x") || word.starts_with("0X");
    const auto size = static_cast<std::size_t>(size_bytes(dtype_));
    const std::uint64_t value = value_of(word.substr(prefixed ? 2 : 0), 2 * size, word);
    if (dtype_ == Dtype::boolean && value > 1) fail(in_quotes(word) + " is not 0 or 1");
    bytes_.resize(bytes_.size() + size);
    std::memcpy(bytes_.data() + bytes_.size() - size, &value, size);  // the low bytes come first
  }

  void take_address(std::string_view word) {
    const std::uint64_t address = value_of(word.substr(1), 16, word);
    const std::uint64_t read = bytes_.size() / static_cast<std::size_t>(size_bytes(dtype_));
    if (!base_ && read == 0) base_ = address;
    if (!base_) base_ = 0;
    if (address - *base_ != read)
      fail("address " + in_quotes(word) + " does not follow the " + std::to_string(read) +
           " words before it");
  }

  std::string_view text_;
  Dtype dtype_;
  std::string place_;
  std::size_t position_ = 0;
  Index line_ = 1;
  std::vector<std::byte> bytes_;
  std::optional<std::uint64_t> base_;  ///< address of the first word
};

}  // namespace

Array read_hex(std::span<const std::byte> bytes, Dtype dtype, const Shape& shape,
               std::string_view place) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto words = std::make_shared<std::vector<std::byte>>(Reader(text, dtype, place).words());
  const Index count = std::ssize(*words) / size_bytes(dtype);
  if (count != shape.element_count())
    throw Error(place, std::to_string(count) + " words, shape " + shape.text() + " needs " +
                           std::to_string(shape.element_count()) +
                           proposal_text(fitting_shapes(count, shape)));
  return decode({words, *words}, {dtype, shape}, place);
}

}  // namespace sdpa
