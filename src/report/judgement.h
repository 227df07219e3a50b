#pragma once

#include "array/array.h"
#include "report/kernel_bound.h"
#include "report/pattern.h"

namespace sdpa {

/// An output against the bound of an honest kernel. Positions are in C order of the whole output.
struct Judgement {
  Index count = 0;          ///< values judged or not
  Index outside = 0;        ///< values further from the right one than allowed
  Index unbounded = 0;      ///< numbers for which there is no bound, hence no judgement
  Index exactly_right = 0;  ///< values that are the correctly rounded ones
  Index actual_nans = 0, exact_nans = 0;

  /// The largest error as a multiple of its own bound, and where it is (-1: nothing was judged).
  double worst_multiple = 0;
  Index worst = -1;
  double worst_actual = 0, worst_exact = 0;  ///< the values there
  double worst_allowed = 0;                  ///< the bound there

  Pattern pattern;  ///< of the values outside
};

/// Judges an output head by head.
class Judge {
 public:
  /// shape   of the whole output, (..., T_q, d_v)
  explicit Judge(const Shape& shape) : judgement_{.pattern = Pattern(shape)} {}

  /// Judges the next head.
  ///
  /// actual   (T_q, d_v)   in a float type
  /// exact    (T_q, d_v)   the right values, rounded once to the same type
  /// bounds                of the same problem and this type of output
  ///
  /// Where the right value is a NaN only a NaN is right, and where it is infinite, only that; an
  /// infinity is allowed where the bound reaches the values that round to it.
  void add_head(const Array& actual, const Array& exact, const KernelBounds& bounds);

  const Judgement& judgement() const { return judgement_; }

 private:
  Judgement judgement_;
};

}  // namespace sdpa
