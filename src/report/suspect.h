#pragma once

#include "report/kernel_variant.h"

#include <string>
#include <variant>
#include <vector>

namespace sdpa {

/// What a fault may have for a parameter: nothing, a number, a count, a word, or a range [first, end].
using FaultParameter = std::variant<std::monostate, double, Index, std::string, std::vector<Index>>;

/// A fault that a kernel may have.
struct Suspect {
  std::string fault;  ///< its id
  FaultParameter parameter;
  std::string words;      ///< "key 55 is not seen"
  KernelVariant variant;  ///< what a kernel with this fault gives
  double tried = 0;       ///< log2 of how many of its kind there are to choose from
};

}  // namespace sdpa
