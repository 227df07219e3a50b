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

std::string with_dashes(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

/// What the parser calls, by these names, as it reads. A function returns whether to go on; what is
/// wrong is thrown.
class Handler {
 public:
  struct Member {
    std::string_view name;
    bool optional = false;            ///< it need not be there, and may be a single value
    std::optional<Shape> shape = {};  ///< present when it has been read
    std::size_t first = 0;            ///< its first number
    std::size_t truths = 0;           ///< how many of them were true or false
    std::optional<std::string> text = {};

    bool is_there() const { return shape || text; }
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
    if (member.truths != 0) {
      Array truths(*member.shape, Dtype::boolean);
      std::transform(first, first + truths.shape().element_count(), truths.mutable_data(),
                     [](double value) { return std::byte{value != 0}; });
      return truths;
    }
    return Array(*member.shape, Dtype::float64, numbers_,
                 reinterpret_cast<const std::byte*>(first));
  }

  bool null() { refuse("null"); }
  bool boolean(bool value) {
    const bool is_single = member_ != nullptr && member_->optional && !lists_.is_open();
    const bool among_numbers =
        member_ != nullptr && member_->truths == 0 && numbers_->size() > member_->first;
    if (member_ == nullptr || among_numbers || (!is_single && !lists_.is_open()))
      refuse(value ? "true" : "false");
    ++member_->truths;
    return add(value ? 1 : 0);
  }
  bool string(std::string& value) {
    if (member_ == nullptr || !member_->optional || lists_.is_open())
      refuse("the text " + in_quotes(value));
    member_->text = value;
    return true;
  }
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
      if (member.name == name || (member.optional && member.name == with_dashes(name)))
        member_ = &member;
    if (member_ == nullptr)
      throw Error(place_, "member " + in_quotes(name) + " is not one of 'q', 'k' and 'v'" +
                              (members_.size() > 3 ? ", nor an option of masks" : ""));
    if (member_->is_there()) throw Error(place_, "member " + in_quotes(name) + " is given twice");
    member_->first = numbers_->size();
    lists_ = NestedLists(std::string(place_) + ": " + name);
    return true;
  }

  bool end_object() {
    for (const Member& member : members_)
      if (!member.is_there() && !member.optional)
        throw Error(place_, "member " + in_quotes(member.name) + " is missing");
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
    if (member_->optional && !lists_.is_open())
      member_->shape = Shape{};
    else
      lists_.number();
    numbers_->push_back(value);
    if (member_->truths != 0 && member_->truths != numbers_->size() - member_->first)
      throw Error(place_, "holds numbers and truth values in one array");
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

Case read_json_case(std::span<const std::byte> text, std::string_view place,
                    std::span<const std::string_view> further) {
  std::vector<Handler::Member> members = {{"q"}, {"k"}, {"v"}};
  const std::size_t operands = members.size();
  for (const std::string_view name : further) members.push_back({name, true});
  const Handler handler = parse(text, place, members);
  Case read{handler.array(members[0]), handler.array(members[1]), handler.array(members[2])};
  for (std::size_t i = operands; i < members.size(); ++i)
    if (members[i].text)
      read.others.push_back({std::string(members[i].name), std::nullopt, members[i].text});
    else if (members[i].shape)
      read.others.push_back(
          {std::string(members[i].name), handler.array(members[i]), std::nullopt});
  return read;
}

}  // namespace sdpa
