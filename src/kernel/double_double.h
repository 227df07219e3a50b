#pragma once

// Numbers of twice the precision, as the unevaluated sum hi + lo of two doubles, in lanes.
//
// u is 2^-53. Algorithms are numbered as in Joldes, Muller, Popescu, "Tight and rigorous error bounds
// for basic building blocks of double-word arithmetic", ACM TOMS 44 (2017). Bounds are relative, for
// normalised operands, and from there or from Muller, Rideau, "Formalization of double-word
// arithmetic, and comments on [it]", ACM TOMS 48 (2022), unless derived here; two_sum and two_product
// are exact (Knuth; Dekker with an fma) as long as nothing overflows and the product's low half does
// not underflow.

#include "kernel/lanes.h"

namespace sdpa::kernel::SDPA_ISA {

/// hi + lo; "normalised" when hi is the double nearest to the sum.
template <class Vector>
struct DoubleDoubleOf {
  Vector hi, lo;
};
using DoubleDouble = DoubleDoubleOf<DoubleLanes>;

/// a + b = hi + lo exactly.
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> two_sum(Vector a, Vector b) {
  const Vector sum = a + b;
  const Vector b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// The same where |a| >= |b| or a is zero.
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> fast_two_sum(Vector a, Vector b) {
  const Vector sum = a + b;
  return {sum, b - (sum - a)};
}

/// a * b = hi + lo exactly.
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> two_product(Vector a, Vector b) {
  const Vector product = a * b;
  return {product, fma(a, b, -product)};
}

/// Error at most 3u^2 + 13u^3 (their algorithm 6, AccurateDWPlusDW).
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> add(DoubleDoubleOf<Vector> a,
                                                                DoubleDoubleOf<Vector> b) {
  const DoubleDoubleOf<Vector> high = two_sum(a.hi, b.hi);
  const DoubleDoubleOf<Vector> low = two_sum(a.lo, b.lo);
  const DoubleDoubleOf<Vector> sum = fast_two_sum(high.hi, high.lo + low.hi);
  return fast_two_sum(sum.hi, low.lo + sum.lo);
}

/// Error at most 2u^2 (algorithm 4, DWPlusFP).
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> add(DoubleDoubleOf<Vector> a,
                                                                Vector b) {
  const DoubleDoubleOf<Vector> high = two_sum(a.hi, b);
  return fast_two_sum(high.hi, a.lo + high.lo);
}

/// Error at most 5u^2 (algorithm 11, DWTimesDW2; of 2022, theorem 2.7).
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> multiply(DoubleDoubleOf<Vector> a,
                                                                     DoubleDoubleOf<Vector> b) {
  const DoubleDoubleOf<Vector> product = two_product(a.hi, b.hi);
  return fast_two_sum(product.hi, product.lo + fma(a.hi, b.lo, a.lo * b.hi));
}

/// Error at most 2u^2 (algorithm 9, DWTimesFP3).
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> multiply(DoubleDoubleOf<Vector> a,
                                                                     Vector b) {
  const DoubleDoubleOf<Vector> product = two_product(a.hi, b);
  return fast_two_sum(product.hi, fma(a.lo, b, product.lo));
}

/// Error at most 15u^2: algorithm 17, DWDivDW2, whose product is there algorithm 7, within 3/2 u^2.
/// With algorithm 9 instead, to first order and relative to a or a / b: the rest a - b * quotient is
/// at most 3u, one each from the low parts of a and b and from the quotient's rounding. Its high
/// difference is exact (Sterbenz). The product is off by 2u^2; the low difference, at most 2u, is
/// rounded by 2u^2; the rest and its own quotient by 3u^2 each, and to divide by b.hi in place of b
/// costs 3u^2 more. That makes 13u^2.
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> divide(DoubleDoubleOf<Vector> a,
                                                                   DoubleDoubleOf<Vector> b) {
  const Vector quotient = a.hi / b.hi;
  const DoubleDoubleOf<Vector> product = multiply(b, quotient);
  const Vector rest = (a.hi - product.hi) + (a.lo - product.lo);
  return fast_two_sum(quotient, rest / b.hi);
}

}  // namespace sdpa::kernel::SDPA_ISA
