#pragma once

#include "array/array.h"

#include <optional>

namespace sdpa {

/// NaNs and infinities in an array.
struct NonFinite {
  Index count = 0;  ///< of both
  Index nans = 0;
  std::optional<Index> first;  ///< position in C order of the first one
};

/// Counts them. Integers have none.
NonFinite find_non_finite(const Array& array);

}  // namespace sdpa
