#pragma once

#include "attention/problem.h"

namespace sdpa {

/// The operands of one head.
struct Head {
  Array q, k, v;
  Extents n;
  double scale_high, scale_low;  ///< log2(e)/sqrt(d_k), within 2^-102 of it, relatively
};

/// Takes (T, d) arrays; throws what check_shapes throws.
Head make_head(const Array& q, const Array& k, const Array& v);

}  // namespace sdpa
