#pragma once

#include "base/index.h"

#include <span>

namespace sdpa {

/// A number as the unevaluated sum of two doubles, if it is one.
struct ExactSum {
  double high = 0, low = 0;
  bool exact =
      true;  ///< false: the number needs more than two doubles, and high and low mean nothing
};

/// The sum of x.
ExactSum exact_sum(std::span<const double> x);

/// The sum of x[i] * y[i].
ExactSum exact_dot(const double* x, const double* y, Index count);

}  // namespace sdpa
