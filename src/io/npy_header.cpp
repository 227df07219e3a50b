#include "io/npy_header.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/quote.h"

#include <algorithm>

namespace sdpa {

namespace {

class Parser {
 public:
  Parser(std::string_view text, bool suffix_L, std::string_view place)
      : text_(text), suffix_L_(suffix_L), place_(place) {}

  NpyHeader dictionary() {
    NpyHeader header;
    std::vector<std::string_view> keys;
    if (!accept('{')) fail("a dictionary");
    while (!accept('}')) {
      const std::string_view key = string("a key");
      for (const std::string_view earlier : keys)
        if (key == earlier) throw Error(place_, "header: " + in_quotes(key) + " is given twice");
      keys.push_back(key);
      if (!accept(':')) fail("':'");
      value_of(key, header);
      if (accept(',')) continue;
      if (!accept('}')) fail("',' or '}'");
      break;
    }
    // Each key is one of three and none is there twice.
    if (keys.size() != 3)
      throw Error(place_, "header: has " + std::to_string(keys.size()) +
                              " keys, not the three 'descr', 'fortran_order' and 'shape'");
    skip_spaces();
    if (position_ != text_.size()) fail("nothing more");
    return header;
  }

 private:
  void value_of(std::string_view key, NpyHeader& header) {
    if (key == "descr")
      header.descr = descr();
    else if (key == "fortran_order")
      header.fortran_order = boolean();
    else if (key == "shape")
      header.shape = tuple();
    else
      throw Error(place_, "header: key " + in_quotes(key) +
                              " is none of 'descr', 'fortran_order' and 'shape'");
  }

  std::string_view descr() {
    skip_spaces();
    if (position_ < text_.size() && text_[position_] == '[')
      throw Error(place_, "holds records (a structured type), not numbers");
    return string("a string");
  }

  bool boolean() {
    skip_spaces();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return word == "True";
      }
    fail("True or False");
  }

  std::vector<Index> tuple() {
    if (!accept('(')) fail("a tuple");
    std::vector<Index> extents;
    if (accept(')')) return extents;
    for (;;) {
      extents.push_back(integer());
      const bool comma = accept(',');
      if (accept(')')) {
        if (extents.size() == 1 && !comma) {
          --position_;
          fail("',', which makes a tuple of one number");
        }
        return extents;
      }
      if (!comma) fail("',' or ')'");
    }
  }

  Index integer() {
    skip_spaces();
    const std::size_t start = position_;
    if (position_ < text_.size() && text_[position_] == '-') ++position_;
    while (position_ < text_.size() && text_[position_] >= '0' && text_[position_] <= '9')
      ++position_;
    const std::string_view word = text_.substr(start, position_ - start);
    if (word.empty() || word == "-" || (word.size() > 1 && word[0] == '0')) {
      position_ = start;
      fail("a decimal integer");
    }
    const auto value = parse_integer(word);
    if (!value) throw Error(place_, "header: an extent of " + in_quotes(word) + " is too large");
    if (suffix_L_ && position_ < text_.size() && text_[position_] == 'L') ++position_;
    return static_cast<Index>(*value);
  }

  std::string_view string(std::string_view expected) {
    skip_spaces();
    std::size_t start = position_;
    if (start < text_.size() && text_[start] == 'u') ++start;
    if (start >= text_.size() || (text_[start] != '\'' && text_[start] != '"')) fail(expected);
    const std::size_t end = text_.find(text_[start], start + 1);
    const std::string_view inside = text_.substr(start + 1, end - start - 1);
    if (end == std::string_view::npos) fail("a string that ends");
    if (inside.find_first_of("\\\n") != std::string_view::npos) fail("a string without escapes");
    position_ = end + 1;
    return inside;
  }

  bool accept(char character) {
    skip_spaces();
    if (position_ >= text_.size() || text_[position_] != character) return false;
    ++position_;
    return true;
  }

  void skip_spaces() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n\f", position_), text_.size());
  }

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found =
        position_ < text_.size() ? in_quotes(text_.substr(position_, 12)) : "the end";
    throw Error(place_, "header: byte " + std::to_string(position_) + " should be " +
                            std::string(expected) + ", but is " + found);
  }

  std::string_view text_;
  bool suffix_L_;
  std::string_view place_;
  std::size_t position_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, bool suffix_L, std::string_view place) {
  return Parser(text, suffix_L, place).dictionary();
}

}  // namespace sdpa
