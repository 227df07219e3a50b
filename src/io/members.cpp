#include "io/members.h"

#include "base/error.h"
#include "io/quote.h"

#include <algorithm>

namespace sdpa {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == kMostNames) return text + " and " + std::to_string(names.size() - i) + " more";
    if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
    text += in_quotes(names[i]);
  }
  return text;
}

void require_distinct(const std::vector<std::string>& names, std::string_view place) {
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end())
    throw Error(std::string(place) + ": " + printable(*twice), "is given twice");
}

Array read_member_array(const MemberFile& file, const std::optional<std::string>& name,
                        std::string_view place) {
  const std::vector<std::string>& names = file.names();
  if (names.empty()) throw Error(place, "holds no arrays");
  auto at = names.begin();
  if (name) {
    at = std::ranges::find(names, *name);
    if (at == names.end())
      throw Error(place, "there is no member of this name; there are " + listed(names));
  } else if (names.size() > 1) {
    throw Error(place, "holds " + std::to_string(names.size()) +
                           " arrays, of which FILE#NAME names one: " + listed(names));
  }
  const CaseMember member = file.read(static_cast<std::size_t>(at - names.begin()));
  if (!member.array)
    throw Error(place, "is the text " + in_quotes(*member.text) + ", not an array");
  return *member.array;
}

}  // namespace sdpa
