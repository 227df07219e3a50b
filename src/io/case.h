#pragma once

#include "io/members.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The operands of one problem from a single file, and what else is there.
struct Case {
  CaseMember q, k, v;  ///< arrays, with the names that the file has for them

  /// Members that were asked for, with their names in lower case and - for each _.
  std::vector<CaseMember> others = {};

  /// The one that is named as an output, if it was asked for and there is one.
  std::optional<CaseMember> output = {};

  std::vector<std::string> unused = {};  ///< names of all other members, as in the file
};

/// What is asked for beside the operands.
struct CaseWishes {
  std::span<const std::string_view> names = {};  ///< in lower case, with - for each _
  bool output = false;
};

/// The name in lower case, with - for each _.
std::string plain_name(std::string_view name);

/// Takes q, k and v from the members of a file: they may be called q, query, queries or query_states
/// (and k: key ..., v: value ...), in upper case or lower. An output is called o, out, output, outputs, y,
/// expected, expected_output or attn_output.
///
/// Throws Error that begins with `place` if one is missing, or if two members could be the same one, with
/// both names. Members that are not asked for are not read.
Case case_from(const MemberFile& file, const CaseWishes& wishes, std::string_view place);

}  // namespace sdpa
