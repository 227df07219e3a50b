#pragma once

#include "attention/attention.h"
#include "attention/head.h"

#include <functional>

namespace sdpa {

/// Attention of a head that holds NaN or infinities, by the rules of attention.h. Rows and columns
/// that are finite are computed by `of_finite`, which is given heads without a NaN or infinity.
Attention nonfinite_attention(const Head& head, Dtype dtype, bool weights,
                              const std::function<Attention(const Head&)>& of_finite);

}  // namespace sdpa
