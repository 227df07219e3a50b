#pragma once

#include "base/index.h"

namespace sdpa {

/// A real number as the unevaluated sum of two doubles, as far as they can hold it.
struct ExactSum {
  double high = 0, low = 0;
  double error = 0;  ///< the number is at most this far from high + low

  bool exact() const { return error == 0; }
  /// Where both are exact, numbers are equal if this is: high is the sum's nearest double.
  bool operator==(const ExactSum&) const = default;
};

/// The sum of x[i]. Where float64 overflows the error is infinite or NaN, here and below.
ExactSum exact_sum(const double* x, Index count);

/// The sum of x[i] * y[i].
ExactSum exact_dot(const double* x, const double* y, Index count);

}  // namespace sdpa
