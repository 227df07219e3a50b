#include "io/json.h"

#include "base/error.h"
#include "io/json_text.h"
#include "io/nested_lists.h"
#include "io/quote.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

/// What the parser calls, by these names, as it reads. A function returns whether to go on; what is
/// wrong is thrown.
class Handler {
 public:
  struct Member {
    std::string_view name;
    std::optional<Shape> shape;  ///< present when it has been read
    std::size_t first = 0;       ///< its first number
  };

  /// members   the members of an object, or one without a name for an array that stands alone
  Handler(std::string_view text, std::string_view place, std::span<Member> members)
      : text_(text),
        place_(place),
        members_(members),
        lists_(place),
        numbers_(std::make_shared<std::vector<double>>()) {
    // In arrays without an empty list a comma stands between any two numbers.
    numbers_->reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1);
    if (members.front().name.empty()) member_ = &members.front();
  }

  Array array(const Member& member) const {
    const double* first = numbers_->data() + member.first;
    return Array(*member.shape, Dtype::float64, numbers_,
                 reinterpret_cast<const std::byte*>(first));
  }

  bool null() { refuse("null"); }
  bool boolean(bool value) { refuse(value ? "true" : "false"); }
  bool string(std::string& value) { refuse("the text " + in_quotes(value)); }
  bool binary(nlohmann::json::binary_t&) { refuse("binary data"); }

  /// Only a number with a minus sign comes here, so this zero was -0.
  bool number_integer(std::int64_t value) {
    return add(value == 0 ? -0.0 : static_cast<double>(value));
  }
  bool number_unsigned(std::uint64_t value) { return add(static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return add(value); }

  bool start_array(std::size_t) {
    if (member_ == nullptr) refuse("an array");
    lists_.open();
    return true;
  }

  bool end_array() {
    lists_.close();
    if (!lists_.is_open()) member_->shape = lists_.shape();
    return true;
  }

  bool start_object(std::size_t) {
    if (member_ != nullptr || in_object_) refuse("an object");
    in_object_ = true;
    return true;
  }

  bool key(std::string& name) {
    member_ = nullptr;
    for (Member& member : members_)
      if (member.name == name) member_ = &member;
    if (member_ == nullptr)
      throw Error(place_, "member " + in_quotes(name) + " is not one of 'q', 'k' and 'v'");
    if (member_->shape) throw Error(place_, "member " + in_quotes(name) + " is given twice");
    member_->first = numbers_->size();
    lists_ = NestedLists(std::string(place_) + ": " + name);
    return true;
  }

  bool end_object() {
    for (const Member& member : members_)
      if (!member.shape) throw Error(place_, "member " + in_quotes(member.name) + " is missing");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow && member_ != nullptr) lists_.refuse_too_large(token);
    throw_json_error(text_, position, place_);
  }

 private:
  bool add(double value) {
    if (member_ == nullptr) refuse("a number");
    lists_.number();
    numbers_->push_back(value);
    return true;
  }

  [[noreturn]] void refuse(const std::string& what) const {
    if (member_ == nullptr)
      throw Error(place_, what + " stands where an object of 'q', 'k' and 'v' should be");
    lists_.refuse(what);
  }

  std::string_view text_;
  std::string_view place_;
  std::span<Member> members_;
  Member* member_ = nullptr;  ///< being read
  bool in_object_ = false;
  NestedLists lists_;
  std::shared_ptr<std::vector<double>> numbers_;  ///< of all members, one after the other
};

/// Parses the whole text; what it holds is then in the handler and in its members.
Handler parse(std::span<const std::byte> bytes, std::string_view place,
              std::span<Handler::Member> members) {
  const std::string_view text = json_text(bytes, place);
  Handler handler(text, place, members);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  return handler;
}

}  // namespace

Array read_json(std::span<const std::byte> text, std::string_view place) {
  Handler::Member members[1];
  return parse(text, place, members).array(members[0]);
}

Case read_json_case(std::span<const std::byte> text, std::string_view place) {
  Handler::Member members[] = {{"q", {}, 0}, {"k", {}, 0}, {"v", {}, 0}};
  const Handler handler = parse(text, place, members);
  return {handler.array(members[0]), handler.array(members[1]), handler.array(members[2])};
}

}  // namespace sdpa
