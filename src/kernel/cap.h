#pragma once

// Scores between -C and C: C tanh(s/C), from scores that are not yet scaled.

#include "kernel/arithmetic.h"

namespace sdpa::kernel::SDPA_ISA {

/// 2^(-scale |x|) - 1
template <int count>
[[gnu::always_inline]] inline void exp2_less_one(FloatLanes (&xs)[count],
                                                 const Scale<FloatLanes>& scale) {
  exp2_of_lanes<float, true>(xs, scale);
}
template <int count>
[[gnu::always_inline]] inline void exp2_less_one(DoubleLanes (&xs)[count],
                                                 const Scale<DoubleLanes>& scale) {
  exp2_of_lanes<double, true>(xs, scale);
}
template <int count>
[[gnu::always_inline]] inline void exp2_less_one(DoubleDouble (&xs)[count],
                                                 const Scale<DoubleLanes>& scale) {
  exp2<true>(xs, scale);
}

template <class Vector>
inline Vector negative_if(Vector condition, Vector x) {
  return condition < 0 ? -x : x;
}
inline DoubleDouble negative_if(DoubleLanes condition, DoubleDouble x) {
  return {condition < 0 ? -x.hi : x.hi, condition < 0 ? -x.lo : x.lo};
}

template <class Vector>
inline Vector add_number(Vector x, Vector number) {
  return x + number;
}
inline DoubleDouble add_number(DoubleDouble x, DoubleLanes number) {
  return kernel::SDPA_ISA::add(x, number);
}

/// Each of xs becomes cap tanh(x ln(2) scale / 2), where `scale` is 2 log2(e) c / cap: so the score c x
/// becomes cap tanh(c x / cap).
///
/// With E = 2^(-scale |x|) - 1, from -1 to 0, it is -cap E / (2 + E), with the sign of x. A relative
/// error of E becomes 2 / (2 + E) of it. In units of rounding u: E is off by 6, which makes at most 12
/// (where E is near -1 it is off by less), the sum, the quotient and the product by 1 each, and a cap
/// that is held in one number by 1: `cap` of kFloat64Error is 16u. In double-double E is off by 2^-98,
/// or 256u^2, and by what the scale's own error makes of it, below 37u^2: together with 3, 15 and 2,
/// less than 640u^2. Nothing is lost where x is small: E is then as accurate, relatively.
template <class Real, int count>
[[gnu::always_inline]] inline void cap_scores(Real (&xs)[count], const ScaleOf<Real>& scale,
                                              VectorOf<Real> cap) {
  VectorOf<Real> sign[count];
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    sign[i] = high(xs[i]);
    xs[i] = negative_if(-sign[i], xs[i]);
  }
  exp2_less_one(xs, scale);
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    const VectorOf<Real> two = broadcast(NumberOf<Real>(2));
    xs[i] = negative_if(-sign[i], multiply(divide(xs[i], add_number(xs[i], two)), cap));
  }
}

}  // namespace sdpa::kernel::SDPA_ISA
