#pragma once

#include "attention/problem.h"

#include <bit>

namespace sdpa {

/// The operands of one head.
struct Head {
  Array q, k, v;
  Extents n;
  double scale_high, scale_low;  ///< 1/sqrt(d_k), within 2^-105 of it, relatively

  /// Whether 1/sqrt(d_k) is a power of two, so that scaling rounds nothing.
  bool scale_is_exact() const {
    return std::has_single_bit(static_cast<std::size_t>(n.d_k)) && scale_low == 0;
  }
};

/// Takes (T, d) arrays; throws what check_shapes throws.
Head make_head(const Array& q, const Array& k, const Array& v);

}  // namespace sdpa
