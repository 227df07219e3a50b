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

/// a + b, or nothing when the sum does not fit.
inline std::optional<Index> checked_add(Index a, Index b) {
  Index sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

}  // namespace sdpa
