#pragma once

#include "array/dtype.h"
#include "base/index.h"

namespace sdpa {

/// Rounds the exact sum high + low once to the float type `dtype` (nearest, ties to even). float64
/// holds the result exactly; a zero is +0.
double round_sum(double high, double low, Dtype dtype);

/// Rounds `count` real numbers to `dtype`: number i lies within error[i] of high[i] + low[i], where
/// low may be null for zeros. If every number that close rounds to the same, that is stored in
/// rounded[i], otherwise (and when an argument is not finite) NaN: the number is undecided.
///
/// Returns how many are undecided.
Index decide(const double* high, const double* low, const double* error, Index count, Dtype dtype,
             double* rounded);

}  // namespace sdpa
