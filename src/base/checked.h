#pragma once

#include "base/index.h"

#include <optional>

namespace sdpa {

/// a * b, or nothing when the product does not fit.
inline std::optional<Index> checked_multiply(Index a, Index b) {
  Index product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

}  // namespace sdpa
