#pragma once

#include "array/array.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa::oracle {

/// One case of data/golden with the results that were stored for one output type.
struct GoldenCase {
  std::string name;  ///< folder and output type, for messages
  Array q, k, v;
  Dtype dtype;
  Array output;
  std::optional<Array> weights;  ///< stored only for small T_k
};

/// All cases of data/golden, once for each output type they are stored for.
std::vector<GoldenCase> golden_cases();

}  // namespace sdpa::oracle
