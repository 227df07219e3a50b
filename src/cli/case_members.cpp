#include "cli/case_members.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/quote.h"

#include <algorithm>

namespace sdpa {

void CaseMembers::take(
    std::string_view option, bool given,
    const std::function<void(const CaseMember&, const std::string&)>& act) const {
  for (const CaseMember& member : members_) {
    if (member.name != option) continue;
    const std::string name = std::string(place_) + ": " + std::string(option);
    if (given)
      throw Error("--" + std::string(option), "given, but " + std::string(place_) +
                                                  " has the member " + in_quotes(option) + " too");
    act(member, name);
  }
}

std::string CaseMembers::text_of(const CaseMember& member, const std::string& name) {
  if (member.text) return *member.text;
  const Array& array = *member.array;
  if (array.shape().rank() > 1 || array.shape().element_count() > 2)
    throw Error(name, "is an array of shape " + array.shape().text() + ", not a word");
  std::string text;
  for (Index i = 0; i < array.shape().element_count(); ++i)
    text += (i == 0 ? "" : ",") + shortest_text(array.at(i));
  return text;
}

int CaseMembers::choice_of(const CaseMember& member, const std::string& name,
                           std::span<const std::string_view> choices) {
  const std::string word = text_of(member, name);
  const auto at = std::ranges::find(choices, std::string_view(word));
  if (at != choices.end()) return static_cast<int>(at - choices.begin());
  std::string listed;
  for (std::size_t i = 0; i < choices.size(); ++i)
    listed += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + std::string(choices[i]);
  throw Error(name, in_quotes(word) + " is not " + listed);
}

NamedArray CaseMembers::array_of(const CaseMember& member, const std::string& name) {
  if (!member.array) throw Error(name, in_quotes(*member.text) + " is not an array");
  return {*member.array, name};
}

}  // namespace sdpa
