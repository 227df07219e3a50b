#include "io/case.h"

#include "base/error.h"
#include "io/quote.h"

#include <algorithm>

namespace sdpa {

namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kQueries[] = {"q", "query", "queries", "query-states"};
constexpr std::string_view kKeys[] = {"k", "key", "keys", "key-states"};
constexpr std::string_view kValues[] = {"v", "value", "values", "value-states"};
constexpr std::string_view kOutputs[] = {"o", "out",      "output",          "outputs",
                                         "y", "expected", "expected-output", "attn-output"};

class Finder {
 public:
  Finder(const MemberFile& file, std::string_view place)
      : file_(file), place_(place), is_used_(file.names().size()) {
    for (const std::string& name : file.names()) plain_.push_back(plain_name(name));
  }

  /// The only member with one of these names.
  std::optional<CaseMember> take(std::span<const std::string_view> names) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < plain_.size(); ++i) {
      if (std::ranges::find(names, plain_[i]) == names.end()) continue;
      if (found)
        throw Error(place_, "has both " + in_quotes(file_.names()[*found]) + " and " +
                                in_quotes(file_.names()[i]) +
                                ", which could be the same; FILE#NAME names one array");
      found = i;
    }
    if (!found) return std::nullopt;
    is_used_[*found] = true;
    return file_.read(*found);
  }

  /// The same, which must be an array.
  std::optional<CaseMember> array(Names names) {
    std::optional<CaseMember> member = take(names);
    if (!member) return member;
    const std::string place = place_ + ": " + printable(member->name);
    if (!member->array)
      throw Error(place,
                  "the text " + in_quotes(*member->text) + " stands where an array should be");
    if (member->array->shape().rank() == 0)
      throw Error(place, "a number stands where an array should be");
    return member;
  }

  CaseMember operand(Names names) {
    std::optional<CaseMember> member = array(names);
    if (!member)
      throw Error(place_,
                  "member " + in_quotes(names.front()) + " is missing; " +
                      (plain_.empty() ? "there are none" : "there are " + listed(file_.names())));
    return *std::move(member);
  }

  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < is_used_.size(); ++i)
      if (!is_used_[i]) names.push_back(file_.names()[i]);
    return names;
  }

 private:
  const MemberFile& file_;
  std::string place_;
  std::vector<std::string> plain_;
  std::vector<bool> is_used_;
};

}  // namespace

std::string plain_name(std::string_view name) {
  std::string plain(name);
  for (char& c : plain) {
    if (c == '_') c = '-';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return plain;
}

Case case_from(const MemberFile& file, const CaseWishes& wishes, std::string_view place) {
  Finder finder(file, place);
  Case found{finder.operand(kQueries), finder.operand(kKeys), finder.operand(kValues)};
  for (const std::string_view name : wishes.names)
    if (std::optional<CaseMember> member = finder.take({&name, 1})) {
      member->name = name;
      found.others.push_back(*std::move(member));
    }
  if (wishes.output) found.output = finder.array(kOutputs);
  found.unused = finder.unused();
  return found;
}

}  // namespace sdpa
