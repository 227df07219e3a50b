#include "io/json.h"

#include "base/error.h"
#include "io/decimal.h"
#include "io/json_text.h"
#include "io/nested_lists.h"
#include "io/quote.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace sdpa {

namespace {

/// The value of a member of an object, or of an array that stands alone.
struct Value {
  std::optional<Shape> shape = {};  ///< present when it is an array and has been read
  std::size_t first = 0;            ///< its first number
  std::size_t truths = 0;           ///< how many of them were true or false
  std::optional<std::string> text = {};
  std::optional<std::string> problem = {};  ///< why it is nothing that is read
};

/// What the parser calls, by these names, as it reads. A function returns whether to go on; what is
/// wrong is thrown, or kept with the member that it concerns.
class Handler {
 public:
  Handler(std::string_view text, std::string_view place, Dtype dtype, bool is_object)
      : text_(text),
        place_(place),
        dtype_(dtype),
        is_object_(is_object),
        lists_(place),
        numbers_(std::make_shared<std::vector<double>>()) {
    // In arrays without an empty list a comma stands between any two numbers.
    numbers_->reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1);
    if (!is_object) values_.emplace_back();
  }

  std::vector<std::string> take_names() { return std::move(names_); }

  /// The value at this position, of which the place is given. Throws Error if it is nothing that is
  /// read.
  const Value& value(std::size_t position) const {
    const Value& value = values_[position];
    if (value.problem) throw Error(*value.problem);
    return value;
  }

  Array array(const Value& value) const {
    const double* first = numbers_->data() + value.first;
    if (value.truths != 0) {
      Array truths(*value.shape, Dtype::boolean);
      std::transform(first, first + truths.shape().element_count(), truths.mutable_data(),
                     [](double number) { return std::byte{number != 0}; });
      return truths;
    }
    return Array(*value.shape, Dtype::float64, numbers_, reinterpret_cast<const std::byte*>(first));
  }

  bool null() {
    return take([&](Value&) { refuse("null"); });
  }

  bool boolean(bool truth) {
    return take([&](Value& value) {
      const bool among_numbers = value.truths == 0 && numbers_->size() > value.first;
      if (among_numbers || (!is_single() && !lists_.is_open())) refuse(truth ? "true" : "false");
      ++value.truths;
      add(value, truth ? 1 : 0);
    });
  }

  bool string(std::string& text) {
    return take([&](Value& value) {
      if (!is_single()) refuse("the text " + in_quotes(text));
      value.text = text;
    });
  }

  bool binary(nlohmann::json::binary_t&) {
    return take([&](Value&) { refuse("binary data"); });
  }

  /// Only a number with a minus sign comes here, so this zero was -0.
  bool number_integer(std::int64_t number) {
    return take([&](Value& value) {
      const auto digits = [&] { return std::to_string(number); };
      add(value, number == 0 ? -0.0 : nearest(static_cast<double>(number), digits));
    });
  }

  bool number_unsigned(std::uint64_t number) {
    return take([&](Value& value) {
      add(value, nearest(static_cast<double>(number), [&] { return std::to_string(number); }));
    });
  }

  bool number_float(double number, const std::string& digits) {
    return take([&](Value& value) { add(value, nearest(number, [&] { return digits; })); });
  }

  bool start_array(std::size_t) {
    const bool go_on = take([&](Value&) { lists_.open(); });
    ++depth_;
    return go_on;
  }

  bool end_array() {
    --depth_;
    return take([&](Value& value) {
      lists_.close();
      if (!lists_.is_open()) value.shape = lists_.shape();
    });
  }

  bool start_object(std::size_t) {
    if (!is_object_ || depth_ != 0) take([&](Value&) { refuse("an object"); });
    ++depth_;
    return true;
  }

  bool end_object() {
    --depth_;
    return true;
  }

  bool key(std::string& name) {
    if (depth_ > 1) return true;  // of an object in a member, which is none that is read
    names_.push_back(name);
    values_.emplace_back();
    values_.back().first = numbers_->size();
    lists_ = NestedLists(std::string(place_) + ": " + printable(name));
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow && !values_.empty() && !values_.back().problem)
      lists_.refuse_too_large(token, Dtype::float64);
    throw_json_error(text_, position, place_);
  }

 private:
  /// Whether what comes next is the whole value of a member.
  bool is_single() const { return is_object_ && depth_ == 1; }

  /// Calls act(the value that is being read). What that throws belongs to the member, and the rest of
  /// it is skipped; there is no member outside an object.
  template <class Act>
  bool take(Act act) {
    if (values_.empty()) throw Error(place_, "is not an object of named arrays");
    Value& value = values_.back();
    if (value.problem) return true;
    if (!is_object_) {
      act(value);
      return true;
    }
    try {
      act(value);
    } catch (const Error& error) {
      value.problem = error.what();
    }
    return true;
  }

  /// `digits` are asked for only if they say more than the number rounded to float64.
  template <class Digits>
  double nearest(double as_float64, Digits digits_of_it) const {
    if (dtype_ == Dtype::float64 || !is_float(dtype_)) return as_float64;
    const std::string digits = digits_of_it();
    const double number = nearest_to_decimal(digits, dtype_).value_or(as_float64);
    if (std::isinf(number)) lists_.refuse_too_large(digits, dtype_);
    return number;
  }

  void add(Value& value, double number) {
    if (is_single())
      value.shape = Shape{};
    else
      lists_.number();
    numbers_->push_back(number);
    if (value.truths != 0 && value.truths != numbers_->size() - value.first)
      throw Error(place_, "holds numbers and truth values in one array");
  }

  [[noreturn]] void refuse(const std::string& what) const { lists_.refuse(what); }

  std::string_view text_;
  std::string_view place_;
  Dtype dtype_;
  bool is_object_;
  int depth_ = 0;  ///< of open arrays and objects
  NestedLists lists_;
  std::vector<std::string> names_;
  std::vector<Value> values_;
  std::shared_ptr<std::vector<double>> numbers_;  ///< of all values, one after the other
};

/// Parses the whole text; what it holds is then in the handler.
Handler parse(std::span<const std::byte> bytes, std::string_view place, Dtype dtype,
              bool is_object) {
  const std::string_view text = json_text(bytes, place);
  Handler handler(text, place, dtype, is_object);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler;
}

class JsonObject : public MemberFile {
 public:
  JsonObject(std::span<const std::byte> text, std::string_view place, Dtype dtype)
      : handler_(parse(text, place, dtype, true)) {
    names_ = handler_.take_names();
    require_distinct(names_, place);
  }

  CaseMember read(std::size_t position) const override {
    const Value& value = handler_.value(position);
    if (value.text) return {names_[position], {}, value.text};
    return {names_[position], handler_.array(value), {}};
  }

 private:
  Handler handler_;
};

}  // namespace

Array read_json(std::span<const std::byte> text, std::string_view place, Dtype dtype) {
  const Handler handler = parse(text, place, dtype, false);
  return handler.array(handler.value(0));
}

bool is_json_object(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '{';
}

std::unique_ptr<MemberFile> open_json(std::span<const std::byte> text, std::string_view place,
                                      Dtype dtype) {
  return std::make_unique<JsonObject>(text, place, dtype);
}

}  // namespace sdpa
