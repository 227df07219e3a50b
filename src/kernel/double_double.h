#pragma once

// Numbers of twice the precision, as the unevaluated sum hi + lo of two doubles, in lanes.
//
// u is 2^-53. Bounds are relative and from Joldes, Muller, Popescu, "Tight and rigorous error
// bounds for basic building blocks of double-word arithmetic", ACM TOMS 44 (2017); two_sum and
// two_product are exact (Knuth; Dekker with an fma) as long as nothing overflows and the product's
// low half does not underflow.

#include "kernel/lanes.h"

namespace sdpa::kernel::SDPA_ISA {

/// hi + lo; "normalised" when hi is the double nearest to the sum.
struct DoubleDouble {
  DoubleLanes hi, lo;
};

/// a + b = hi + lo exactly.
static inline DoubleDouble two_sum(DoubleLanes a, DoubleLanes b) {
  const DoubleLanes sum = a + b;
  const DoubleLanes b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// The same where |a| >= |b| or a is zero.
static inline DoubleDouble fast_two_sum(DoubleLanes a, DoubleLanes b) {
  const DoubleLanes sum = a + b;
  return {sum, b - (sum - a)};
}

/// a * b = hi + lo exactly.
static inline DoubleDouble two_product(DoubleLanes a, DoubleLanes b) {
  const DoubleLanes product = a * b;
  return {product, fma(a, b, -product)};
}

/// Error at most 3u^2 + 13u^3 (their algorithm 6, AccurateDWPlusDW).
static inline DoubleDouble add(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble high = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  const DoubleDouble sum = fast_two_sum(high.hi, high.lo + low.hi);
  return fast_two_sum(sum.hi, low.lo + sum.lo);
}

/// Error at most 2u^2 (algorithm 4, DWPlusFP).
static inline DoubleDouble add(DoubleDouble a, DoubleLanes b) {
  const DoubleDouble high = two_sum(a.hi, b);
  return fast_two_sum(high.hi, a.lo + high.lo);
}

/// Error at most 5u^2 (algorithm 11, DWTimesDW2).
static inline DoubleDouble multiply(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_product(a.hi, b.hi);
  return fast_two_sum(product.hi, product.lo + fma(a.hi, b.lo, a.lo * b.hi));
}

/// Error at most 2u^2 (algorithm 9, DWTimesFP3).
static inline DoubleDouble multiply(DoubleDouble a, DoubleLanes b) {
  const DoubleDouble product = two_product(a.hi, b);
  return fast_two_sum(product.hi, fma(a.lo, b, product.lo));
}

/// Error at most 15u^2 (algorithm 17, DWDivDW2).
static inline DoubleDouble divide(DoubleDouble a, DoubleDouble b) {
  const DoubleLanes quotient = a.hi / b.hi;
  const DoubleDouble product = multiply(b, quotient);
  const DoubleLanes rest = (a.hi - product.hi) + (a.lo - product.lo);
  return fast_two_sum(quotient, rest / b.hi);
}

}  // namespace sdpa::kernel::SDPA_ISA
