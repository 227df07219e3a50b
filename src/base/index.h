#pragma once

#include <cstddef>

namespace sdpa {

/// Sizes and positions of everything that is counted.
using Index = std::ptrdiff_t;

}  // namespace sdpa
