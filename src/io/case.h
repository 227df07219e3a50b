#pragma once

#include "array/array.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa {

/// A member of a case file besides the operands: an array, of rank 0 for a single number or truth
/// value, or a text.
struct CaseMember {
  std::string name;  ///< with - for each _
  std::optional<Array> array;
  std::optional<std::string> text;
};

/// The operands of one problem from a single file.
struct Case {
  Array q, k, v;
  std::vector<CaseMember> others = {};
};

}  // namespace sdpa
