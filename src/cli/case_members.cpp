#include "cli/case_members.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/quote.h"

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

NamedArray CaseMembers::array_of(const CaseMember& member, const std::string& name) {
  if (!member.array) throw Error(name, in_quotes(*member.text) + " is not an array");
  return {*member.array, name};
}

}  // namespace sdpa
