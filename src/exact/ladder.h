#pragma once

#include "exact/norms.h"
#include "stage/head.h"
#include "stage/results.h"

#include <span>

namespace sdpa {

/// Rows that each step of the ladder was asked for.
struct LadderCounts {
  Index float64 = 0, double_double = 0, real = 0;
};

/// Rows of a head, and what is known of its k and v.
struct MeasuredRows {
  HeadRows rows;
  const Norms* norms;
};

/// Attention of rows of heads whose operands are all finite: every value correctly rounded to the
/// type of the results, which are as empty_results makes them.
///
/// Each row climbs a ladder of arithmetics, float64, double-double, real numbers (MPFR), until the
/// error bound of the step leaves one way to round each of its values. For float64 results the
/// first step would decide nothing and is left out.
void exact_attention(std::span<const MeasuredRows> parts, int threads, Attention& results,
                     LadderCounts* counts = nullptr);

}  // namespace sdpa
