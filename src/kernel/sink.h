#pragma once

// After all keys: one more numerator, of a logit that has no value.

#include "kernel/group.h"
#include "kernel/hide.h"

namespace sdpa::kernel::SDPA_ISA {

template <class Vector>
inline Vector not_above_zero(Vector x) {
  return x < 0 ? x : Vector{};
}
inline DoubleDouble not_above_zero(DoubleDouble x) {
  return {x.hi < 0 ? x.hi : DoubleLanes{}, x.hi < 0 ? x.lo : DoubleLanes{}};
}

template <class Vector>
inline Vector negative(Vector x) {
  return -x;
}
inline DoubleDouble negative(DoubleDouble x) {
  return {-x.hi, -x.lo};
}

template <class Vector>
inline Vector as_real(Vector x, const Vector*) {
  return x;
}
inline DoubleDouble as_real(DoubleLanes x, const DoubleDouble*) {
  return {x, DoubleLanes{}};
}

/// A sink of -inf: as far below any score as can be told. DoubleDouble has no infinities.
inline constexpr double kNoSink = -0x1p1000;

/// Adds the numerators of the sinks of vector x + y to its sum. Where a sink is above the maximum, it takes
/// its place: what was summed is lowered, and numerators are from here on to be multiplied with
/// `lowered`.
template <class Real, int V>
void add_sinks(Group<Real>& group, Index x, Index y) {
  using Number = NumberOf<Real>;
  using Vector = VectorOf<Real>;
  constexpr Index kWidth = kLanes<Number>;
  const Question& question = group.question;
  Vector sinks{};
  const Index first = (x + y) * kWidth, lanes = smaller(kWidth, question.queries - first);
  for (Index lane = 0; lane < lanes; ++lane) {
    const double sink = question.sinks[first + lane];
    sinks[lane] = static_cast<Number>(sink > kNoSink ? sink : kNoSink);
  }
  // log2(e)
  constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;
  const auto natural = make_scale<Number>(DoubleDoubleOf<Vector>{
      broadcast(static_cast<Number>(kHigh)), broadcast(static_cast<Number>(kLow))});
  const bool is_scaled = question.is_scaled;
  const DoubleDoubleOf<Vector> factor{
      broadcast(static_cast<Number>(is_scaled ? 1 : question.score_scale_high)),
      broadcast(static_cast<Number>(is_scaled ? 0 : question.score_scale_low))};
  const Real* no = nullptr;
  const Real above = scale_and_add(as_real(-group.largest[x + y], no), factor, sinks);
  Real numerators[] = {not_above_zero(above), not_above_zero(negative(above))};
  exp2(numerators, natural);
  const Real lowered = numerators[1];
  group.lowered[x + y] = lowered;
  group.sum[x + y] = add(multiply(group.sum[x + y], lowered), numerators[0]);
  // Not below what is lost where the squares underflow.
  group.squares[x + y] = group.squares[x + y] * (high(lowered) * high(lowered));
  if constexpr (Arithmetic<Real>::kSquares) group.squares[x + y] += broadcast(0x1p-1000);
  Real* o = group.o + x * question.d_v + y;
  for (Index d = 0; d < question.d_v; ++d) o[d * V] = multiply(o[d * V], lowered);
}

}  // namespace sdpa::kernel::SDPA_ISA
