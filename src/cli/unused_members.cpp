#include "cli/unused_members.h"

#include "cli/streams.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace sdpa {

namespace {

bool sounds_relevant(std::string_view name) {
  constexpr std::string_view kWhole[] = {"m", "b", "g", "s", "h", "len", "lens", "pos"};
  constexpr std::string_view kParts[] = {
      "mask",   "bias",   "length",   "seqlen",      "seq-len", "lens",    "scale",
      "causal", "window", "align",    "cap",         "sink",    "dropout", "head",
      "alibi",  "slope",  "position", "rope",        "rotary",  "past",    "cache",
      "offset", "layout", "group",    "temperature", "pad"};
  const std::string plain = plain_name(name);
  return std::ranges::find(kWhole, plain) != std::end(kWhole) ||
         std::ranges::any_of(kParts,
                             [&](std::string_view part) { return plain.find(part) != plain.npos; });
}

}  // namespace

void warn_of_unused_members(const Case& found, std::string_view place) {
  std::vector<std::string> names;
  std::ranges::copy_if(found.unused, std::back_inserter(names), sounds_relevant);
  if (names.empty()) return;
  const bool is_one = names.size() == 1;
  complain("warning: " + std::string(place) + ": " + (is_one ? "member " : "members ") +
           listed(names) + (is_one ? " is" : " are") +
           " not used; what belongs to the problem is given by an option, or called like one");
}

}  // namespace sdpa
