#pragma once

#include "stage/head.h"
#include "stage/results.h"

#include <functional>

namespace sdpa {

/// Computes all rows of a head without NaN and infinities, into results of its shape.
using FiniteAttention = std::function<void(const Head&, Attention& results)>;

/// Attention of a head that holds NaN or infinities, by the rules of attention.h, into results of
/// its shape. Rows and columns that are finite are computed by `of_finite`.
void nonfinite_attention(const Head& head, const FiniteAttention& of_finite, Attention& results);

}  // namespace sdpa
