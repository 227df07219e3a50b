#pragma once

#include "base/index.h"

namespace sdpa {

/// A real number as the unevaluated sum of two doubles, as far as they can hold it.
struct ExactSum {
  double high = 0, low = 0;
  double error = 0;  ///< the number is at most this far from high + low

  bool exact() const { return error == 0; }
};

/// The sum of x[i] * y[i]. Where float64 overflows the error is infinite or NaN.
ExactSum exact_dot(const double* x, const double* y, Index count);

}  // namespace sdpa
