#pragma once

#include "attention/named_array.h"
#include "io/case.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The members of a case file that are spelled as options are, taken one after the other.
class CaseMembers {
 public:
  /// place   of the case file, for messages. Both arguments must outlive this.
  CaseMembers(const std::vector<CaseMember>& members, std::string_view place)
      : members_(members), place_(place) {}

  /// Calls act(member, its name in messages) if there is one of this name. Throws Error if it is
  /// `given` as an option too.
  void take(std::string_view option, bool given,
            const std::function<void(const CaseMember&, const std::string&)>& act) const;

  /// A member as the word that its option would have: a text, or one or two numbers joined by a
  /// comma. Throws Error, beginning with `name`, if it is neither.
  static std::string text_of(const CaseMember& member, const std::string& name);

  /// Which of the choices the word is. Throws Error, beginning with `name`, if it is none of them.
  static int choice_of(const CaseMember& member, const std::string& name,
                       std::span<const std::string_view> choices);

  /// A member as an array. Throws Error if it is a text.
  static NamedArray array_of(const CaseMember& member, const std::string& name);

 private:
  const std::vector<CaseMember>& members_;
  std::string_view place_;
};

}  // namespace sdpa
