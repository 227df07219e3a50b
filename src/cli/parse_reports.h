#pragma once

#include "cli/options.h"

#include <string>
#include <vector>

namespace sdpa {

/// Read the words behind `sdpa compare` and `sdpa check`. Throw UsageError as parse does.
Request parse_compare(std::vector<std::string> words);
Request parse_check(std::vector<std::string> words);

}  // namespace sdpa
