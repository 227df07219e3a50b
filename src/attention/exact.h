#pragma once

#include "attention/attention.h"
#include "attention/head.h"
#include "attention/norms.h"

namespace sdpa {

/// Rows that each step of the ladder was asked for.
struct LadderCounts {
  Index float64 = 0, double_double = 0, real = 0;
};

/// Attention of a head whose operands are all finite, every value correctly rounded to `dtype`.
///
/// Each row climbs a ladder of arithmetics, float64, double-double, real numbers (MPFR), until the
/// error bound of the step leaves one way to round each of its values. For float64 results the
/// first step would decide nothing and is left out.
Attention exact_attention(const Head& head, const Norms& norms, Dtype dtype, int threads,
                          bool weights, LadderCounts* counts = nullptr);

}  // namespace sdpa
