#pragma once

// Powers of two over lanes, 2^(scale x), for float, double and DoubleDouble. With log2 e in the
// scale this is the exp of softmax. libm's exp differs from machine to machine in its last bit;
// this is a fixed sequence of correctly rounded operations.
//
// All three do the same: n = scale x rounded to an integer, r = scale x - n, so |r| <= 0.5000001,
// then 2^n 2^r with a polynomial for 2^r. A product scale x below the smallest exponent gives 0;
// above the largest it must not occur, since scores come with their maximum or a bound of it
// subtracted.

#include "kernel/double_double.h"
#include "kernel/lanes.h"

#include <iterator>

namespace sdpa::kernel::SDPA_ISA {

template <class Number>
struct Exp2Constants;

template <>
struct Exp2Constants<float> {
  static constexpr int kFractionBits = 23;
  static constexpr float kBias = 127;  // of the exponent
  // (2^r - 1) / r, interpolated at Chebyshev's points of [-0.5000001, 0.5000001]. With these
  // rounded coefficients 1 + r * polynomial is within 2^-26.7 of 2^r, relatively.
  static constexpr float kPolynomial[] = {0x1.62e43p-1f,  0x1.ebfbep-3f,  0x1.c6af6cp-5f,
                                          0x1.3b2a54p-7f, 0x1.5f089p-10f, 0x1.44138ap-13f};
};

template <>
struct Exp2Constants<double> {
  static constexpr int kFractionBits = 52;
  static constexpr double kBias = 1023;
  // As above; within 2^-55.4.
  static constexpr double kPolynomial[] = {
      0x1.62e42fefa39efp-1,  0x1.ebfbdff82c598p-3,  0x1.c6b08d704a0c2p-5,  0x1.3b2ab6fba1ddap-7,
      0x1.5d87fe78a5276p-10, 0x1.430913096fdb5p-13, 0x1.ffcbfc670dce6p-17, 0x1.62bfd4776f20bp-20,
      0x1.b524fae624087p-24, 0x1.e6063f7a40c36p-28, 0x1.e9d3fe4047b38p-32};
};

/// Adding it leaves no bits behind the point, and the biased exponent of 2^n in the lowest bits.
template <class Number>
inline constexpr Number kShift = Number(3) *
                                     Number(1LL << (Exp2Constants<Number>::kFractionBits - 1)) +
                                 Exp2Constants<Number>::kBias;

/// A positive factor of arguments.
template <class Vector>
struct Scale {
  DoubleDoubleOf<Vector> factor;
  Vector smallest;  ///< for it and all smaller arguments the biased exponent is 0, so is the power
};
template <class Number, class Vector>
static inline Scale<Vector> make_scale(DoubleDoubleOf<Vector> factor) {
  return {factor, broadcast(-Exp2Constants<Number>::kBias) / factor.hi};
}

/// 2^n, where `shifted` is n + kShift.
template <class Number, class Vector>
static inline Vector power_of_2(Vector shifted) {
  return (Vector)((typename Lanes<Number>::Bits)shifted << Exp2Constants<Number>::kFractionBits);
}

/// Each of xs becomes 2^(scale x). It is one long chain of operations; several take turns. For
/// float the factor is its high part.
///
/// Relative error at most 2 units of rounding (2^-53 for double, 2^-24 for float), for scale x
/// above -1017 (float: -121). In such units: the first step to r, at most 1/2, is rounded by at
/// most 0.25, the second by 0.5, so r is off by at most 0.75 and the result by 0.52, relatively;
/// the polynomial is off by 0.19. It is rounded by at most 0.5, and by 0.14 before its last step:
/// 0.64 |r|, at most 0.32. r * power is exact, or subnormal and the result off by 0.04. The last
/// operation costs at most 0.5 where the result is below the power, so all is below (0.32 + 0.5) /
/// 0.707 + 0.75 there. Above, it costs 1, but (0.64 |r| + 1) / 2^r is at most 1, and all is below
/// 1.75. A NaN gives a NaN whatever its bits, for the power is a factor and not added to an
/// exponent.
///
/// less_one   2^(scale x) - 1 instead, for scale x from -1/2 down to any, within 6 units. From 2^0 on
/// (n = 0) it is r * polynomial: the steps to r cost 2 units, the polynomial 1.3 and its own error,
/// below 0.6, and the last operation 0.5. Where n is below 0, 2^(scale x) is at most 0.71, so off by
/// 1.42 units of 1 at most, and the result at least 0.29 in absolute value.
template <class Number, bool less_one = false, int count, class Vector>
[[gnu::always_inline]] static inline void exp2_of_lanes(Vector (&xs)[count],
                                                        const Scale<Vector>& scale) {
  using C = Exp2Constants<Number>;
  using Vectors = Several<Vector, count>;
  const Vectors high(scale.factor.hi), shift(broadcast(kShift<Number>));
  Vectors x;
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) x.of[i] = larger(scale.smallest, xs[i]);
  const Vectors shifted = fma(x, high, shift);
  Vectors r = fma(x, high, -(shifted - shift));
  if constexpr (sizeof(Number) == sizeof(double)) r = fma(x, Vectors(scale.factor.lo), r);

  Vectors polynomial(broadcast(*std::rbegin(C::kPolynomial)));
#pragma GCC unroll 16
  for (int i = std::ssize(C::kPolynomial) - 2; i >= 0; --i)
    polynomial = fma(polynomial, r, Vectors(broadcast(C::kPolynomial[i])));

  Vectors power;
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) power.of[i] = power_of_2<Number>(shifted.of[i]);
  Vectors last = power;
  if constexpr (less_one) last = power - Vectors(broadcast(Number(1)));
  const Vectors result = fma(polynomial, r * power, last);
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) xs[i] = result.of[i];
}

template <int count>
[[gnu::always_inline]] static inline void exp2(FloatLanes (&xs)[count],
                                               const Scale<FloatLanes>& scale) {
  exp2_of_lanes<float>(xs, scale);
}
template <int count>
[[gnu::always_inline]] static inline void exp2(DoubleLanes (&xs)[count],
                                               const Scale<DoubleLanes>& scale) {
  exp2_of_lanes<double>(xs, scale);
}

/// ln 2 as a normalised sum of two doubles.
inline constexpr double kLn2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};

/// 1/n! as a normalised sum of two doubles, for n = 0 ... 12.
inline constexpr double kInverseFactorial[][2] = {
    {0x1p+0, 0x0p+0},
    {0x1p+0, 0x0p+0},
    {0x1p-1, 0x0p+0},
    {0x1.5555555555555p-3, 0x1.5555555555555p-57},
    {0x1.5555555555555p-5, 0x1.5555555555555p-59},
    {0x1.1111111111111p-7, 0x1.1111111111111p-63},
    {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
    {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
    {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
    {0x1.71de3a556c734p-19, -0x1.c154f8ddc6cp-73},
    {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
    {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
    {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
};

/// 1/n! for n = 13 ... 22. These terms are together below 2^-51.9 of exp(r), so float64 is enough
/// for them; the terms from r^23 on are below 2^-109.
inline constexpr double kInverseFactorialTail[] = {
    0x1.6124613a86d09p-33, 0x1.93974a8c07c9dp-37, 0x1.ae7f3e733b81fp-41, 0x1.ae7f3e733b81fp-45,
    0x1.952c77030ad4ap-49, 0x1.6827863b97d97p-53, 0x1.2f49b46814157p-57, 0x1.e542ba4020225p-62,
    0x1.71b8ef6dcf572p-66, 0x1.0ce396db7f853p-70};

/// product + coefficient, where |product| is below the coefficient, so the cheaper sum is exact.
/// Error at most 3u^2.
template <class Vector>
[[gnu::always_inline]] static inline DoubleDoubleOf<Vector> add_to_coefficient(
    const double (&coefficient)[2], DoubleDoubleOf<Vector> product) {
  const auto high = fast_two_sum(Vector(broadcast(coefficient[0])), product.hi);
  return fast_two_sum(high.hi, high.lo + (product.lo + broadcast(coefficient[1])));
}

/// The same for DoubleDouble; xs need be normalised.
///
/// Relative error at most 2^-101, and 5u^2 ln 2 |scale x| for the product, whose integer part is
/// subtracted exactly; for scale x above -967: from there down the low part of the result is
/// subnormal and may be off by 2^-1075 more. r = (scale x - n) ln 2 is at most 0.34658 and its
/// product costs 5u^2 of it, 1.8u^2. exp(r) is even + r * odd, two polynomials in r^2 < 0.121 that
/// need not wait for each other. A step costs 3u^2 of its sum and 10u^2 of its product, r^2 being
/// off by 5u^2 itself; errors before it are damped by r^2. The last steps add at most 0.061 and
/// 0.021 to 1, so even is off by at most 4.1u^2 and odd by 3.4u^2. r * odd is at most 0.354 and its
/// product costs 5u^2 of it; the last sum costs 3u^2 and r 1.8u^2, relatively. The tail, rounded as
/// its coefficients are, adds 2^-51.9 * 3u = 6.4u^2, and what is left out 0.2u^2. So the result is
/// off by at most (4.1 + 1.2 + 1.8) u^2 / 0.707 + (3 + 1.8 + 6.6) u^2, below 22u^2, and less where
/// it is larger than 0.707; 2^-101 is 32u^2.
///
/// less_one   2^(scale x) - 1 instead, for scale x of 0 or less, within 2^-98. Where n is 0, cosh(r) -
/// 1 is at most 0.061 and sinh(r) 0.354; they are off by 13u^2 and 15u^2 of themselves, and their sum
/// by 1.5 times that. Elsewhere it is at least 0.29, and off by what is said of 2^(scale x), at most
/// 0.71, and of a sum.
template <bool less_one = false, int count>
static inline void exp2(DoubleDouble (&xs)[count], const Scale<DoubleLanes>& scale) {
  using Vector = Several<DoubleLanes, count>;
  using Pair = DoubleDoubleOf<Vector>;
  const Vector shift(broadcast(kShift<double>));
  Pair x;
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    x.hi.of[i] = larger(scale.smallest, xs[i].hi);
    x.lo.of[i] = scale.smallest > xs[i].hi ? DoubleLanes{} : xs[i].lo;
  }
  x = multiply(x, Pair{scale.factor.hi, scale.factor.lo});
  const Vector shifted = x.hi + shift;
  const Pair fraction = fast_two_sum(x.hi - (shifted - shift), x.lo);
  const Pair r = multiply(fraction, Pair{broadcast(kLn2[0]), broadcast(kLn2[1])});

  constexpr int kTail = sizeof kInverseFactorialTail / sizeof(double);
  Vector tail = broadcast(kInverseFactorialTail[kTail - 1]);
#pragma GCC unroll 16
  for (int term = kTail - 2; term >= 0; --term)
    tail = fma(tail, r.hi, broadcast(kInverseFactorialTail[term]));

  constexpr int kLast = sizeof kInverseFactorial / sizeof kInverseFactorial[0] - 1;
  static_assert(kLast % 2 == 0);
  const auto square = multiply(r, r);
  auto even = add_to_coefficient(kInverseFactorial[kLast], Pair{tail * r.hi, broadcast(0.0)});
  Pair odd{broadcast(kInverseFactorial[kLast - 1][0]), broadcast(kInverseFactorial[kLast - 1][1])};
#pragma GCC unroll 16
  for (int term = kLast - 2; term > 0; term -= 2) {
    even = add_to_coefficient(kInverseFactorial[term], multiply(even, square));
    odd = add_to_coefficient(kInverseFactorial[term - 1], multiply(odd, square));
  }
  even = multiply(even, square);
  if constexpr (!less_one) even = add_to_coefficient(kInverseFactorial[0], even);
  const auto sum = add(even, multiply(odd, r));
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    const DoubleLanes power = power_of_2<double>(shifted.of[i]);
    xs[i] = {sum.hi.of[i] * power, sum.lo.of[i] * power};
    if constexpr (less_one) xs[i] = kernel::SDPA_ISA::add(xs[i], two_sum(power, broadcast(-1.0)));
  }
}

}  // namespace sdpa::kernel::SDPA_ISA
