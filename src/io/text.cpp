#include "io/text.h"

#include "base/error.h"
#include "io/decimal.h"
#include "io/decode.h"
#include "io/fitting.h"
#include "io/note.h"
#include "io/quote.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace sdpa {

namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

std::string_view as_text(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

/// Takes the next line, without its comment, from the text.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line.substr(0, line.find('#'));
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlanks) == line.npos;
}

class Reader {
 public:
  Reader(Dtype dtype, std::string_view place)
      : dtype_(dtype), place_(place), numbers_(std::make_shared<std::vector<double>>()) {}

  void read(std::string_view text, bool rows_must_agree) {
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      ++line_;
      if (is_blank(line)) continue;
      if (first_line_ == 0) {
        first_line_ = line_;
        if (is_header(line)) {
          note(place_, "line " + std::to_string(line_) + " is taken for a header: " +
                           in_quotes(line.substr(0, line.find_last_not_of(kBlanks) + 1)));
          continue;
        }
      }
      const Index before = std::ssize(*numbers_);
      read_line(line);
      const Index numbers = std::ssize(*numbers_) - before;
      if (rows_ == 0) columns_ = numbers;
      if (rows_must_agree && numbers != columns_)
        fail(std::to_string(numbers) + (numbers == 1 ? " number" : " numbers") +
             ", the lines before have " + std::to_string(columns_));
      ++rows_;
    }
    if (numbers_->empty()) throw Error(place_, "holds no numbers");
  }

  Array array(const std::optional<Shape>& shape) const {
    const Index count = std::ssize(*numbers_);
    if (shape && shape->element_count() != count)
      throw Error(place_, std::to_string(count) + " numbers, shape " + shape->text() + " needs " +
                              std::to_string(shape->element_count()) +
                              proposal_text(fitting_shapes(count, *shape)));
    return Array(shape ? *shape : Shape({rows_, columns_}), Dtype::float64, numbers_,
                 reinterpret_cast<const std::byte*>(numbers_->data()));
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(place_, "line " + std::to_string(line_) + ": " + what);
  }

  /// The next field of a line: a word up to a blank or a separator.
  std::string_view take_field(std::string_view& rest) const {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    const std::string_view field = rest.substr(0, rest.find_first_of(" \t\r\v\f,;"));
    rest.remove_prefix(field.size());
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    return field;
  }

  /// The separator that the rest begins with, if any.
  char take_separator(std::string_view& rest) {
    if (rest.empty() || (rest[0] != ',' && rest[0] != ';')) return 0;
    const char separator = rest[0];
    if (separator_ != 0 && separator != separator_)
      fail("commas and semicolons; one of them separates numbers, and . is before decimals");
    separator_ = separator;
    rest.remove_prefix(1);
    return separator;
  }

  bool is_header(std::string_view line) {
    const char seen = separator_;
    bool is_first = true;
    bool words = true;
    for (std::string_view rest = line; words && !is_blank(rest); is_first = false) {
      const std::string_view field = take_field(rest);
      words = !nearest_to_decimal(field, Dtype::float64);
      // Else its numbers would be taken for data.
      if (field.empty() && is_first &&
          line.find_first_of("abcdefghijklmnopqrstuvwxyz") != line.npos)
        fail("the first column has no name, as where rows are numbered; leave that column out");
      words = words && !field.empty();
      take_separator(rest);
    }
    separator_ = seen;
    return words;
  }

  void read_line(std::string_view line) {
    for (std::string_view rest = line; !is_blank(rest);) {
      const std::string_view field = take_field(rest);
      if (field.empty()) fail("an empty field before " + in_quotes(rest.substr(0, 1)));
      const std::optional<double> number = nearest_to_decimal(field, dtype_);
      if (!number) fail(in_quotes(field) + " is not a number");
      if (std::isinf(*number) && !is_word_of_non_finite(field))
        fail("the number " + in_quotes(field) + " is too large for " +
             std::string(name(is_float(dtype_) ? dtype_ : Dtype::float64)));
      numbers_->push_back(*number);
      take_separator(rest);  // one at the end of the line separates nothing
    }
  }

  Dtype dtype_;
  std::string place_;
  std::shared_ptr<std::vector<double>> numbers_;
  Index line_ = 0, first_line_ = 0, rows_ = 0, columns_ = 0;
  char separator_ = 0;  ///< of the file, where it has been seen
};

}  // namespace

bool is_text(std::span<const std::byte> bytes) {
  constexpr std::size_t kEnough = std::size_t{1} << 16;
  const std::string_view beginning = as_text(bytes.first(std::min(bytes.size(), kEnough)));
  return !beginning.empty() && std::ranges::all_of(beginning, [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 ? c != 0x7f
                                                 : c != 0 && std::strchr("\t\n\v\f\r", c);
  });
}

Array read_text(std::span<const std::byte> bytes, Dtype dtype, const std::optional<Shape>& shape,
                std::string_view place) {
  Reader reader(dtype, place);
  reader.read(as_text(bytes), !shape);
  return reader.array(shape);
}

std::optional<Index> count_text_numbers(std::span<const std::byte> bytes) {
  Index count = 0;
  for (std::string_view text = as_text(bytes); !text.empty();) {
    bool in_number = false;
    for (const char c : take_line(text)) {
      const bool separates = std::strchr(" \t\r\v\f,;", c) != nullptr;
      if (!separates && (c == 0 || std::strchr("0123456789+-.eEnaNAifIFtyTY", c) == nullptr))
        return std::nullopt;
      count += !separates && !in_number;
      in_number = !separates;
    }
  }
  return count;
}

}  // namespace sdpa
