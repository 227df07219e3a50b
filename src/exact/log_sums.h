#pragma once

#include "array/array.h"
#include "exact/ladder.h"

#include <span>

namespace sdpa {

/// ln(sum_j exp(s_j)) over the keys that a row sees, of rows of heads whose q, k and biases are finite
/// and that see a key: each correctly rounded to the type of `log_sums` (rows, 1), float32 or float64.
///
/// A ladder as that of exact_attention. It ends: the sum of several exponentials of algebraic numbers is
/// no exponential of a rational one (Lindemann-Weierstrass), so that only the logarithm for a single key,
/// its score, may lie on a boundary of rounding; that is decided as an algebraic number.
void exact_log_sums(std::span<const MeasuredRows> parts, int threads, Array& log_sums);

}  // namespace sdpa
