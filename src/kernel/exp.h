#pragma once

// exp over lanes, for float, double and DoubleDouble. libm's differs from machine to machine in its
// last bit; this one is a fixed sequence of correctly rounded operations.
//
// All three do the same: n = x / ln 2 rounded to an integer, r = x - n ln 2, so |r| <= 0.34658,
// then exp(x) = 2^n exp(r) with a polynomial for exp(r). Arguments below kSmallestExponent give 0;
// arguments above 700 (float: 88) must not occur, since scores come with their maximum or a bound
// of it subtracted.

#include "kernel/double_double.h"
#include "kernel/lanes.h"

namespace sdpa::kernel::SDPA_ISA {

/// ln 2 in parts: kHigh has so few bits that n * kHigh is exact for every n that occurs.
template <class Number>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  static constexpr float kLog2E = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f;  // 15 bits
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kRoundToInteger = 0x1.8p+23f;  // adding it leaves no bits behind the point
  static constexpr int kFractionBits = 23;
  static constexpr std::int32_t kBias = 127;          // of the exponent
  static constexpr float kSmallestExponent = -87.0f;  // below, 2^n would be subnormal
  // (exp(r) - 1 - r) / r^2, interpolated at Chebyshev's points of [-0.34658, 0.34658]. With these
  // rounded coefficients 1 + r + r^2 * polynomial is within 2^-26.6 of exp(r), relatively.
  static constexpr float kPolynomial[] = {0x1p-1f, 0x1.5554dep-3f, 0x1.55551ap-5f, 0x1.120b64p-7f,
                                          0x1.6d10fep-10f};
};

template <>
struct ExpConstants<double> {
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;  // 42 bits
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kLn2Lowest = 0x1.f97b57a079a19p-103;
  static constexpr double kRoundToInteger = 0x1.8p+52;
  static constexpr int kFractionBits = 52;
  static constexpr std::int64_t kBias = 1023;
  static constexpr double kSmallestExponent = -708.0;
  // As above; within 2^-55.7.
  static constexpr double kPolynomial[] = {
      0x1.0000000000001p-1,  0x1.5555555555556p-3,  0x1.5555555553d67p-5,  0x1.11111111109b4p-7,
      0x1.6c16c1788a49bp-10, 0x1.a01a01a7c327ap-13, 0x1.a019b9133a48ap-16, 0x1.71de0db21e27fp-19,
      0x1.28917e2c43a66p-22, 0x1.af38a0d2d962p-26};
};

/// n as the number it is, and the same in the low bits of `shifted`.
template <class Vector>
struct Multiple {
  Vector shifted, n;
};

template <class Number, class Vector>
static inline Multiple<Vector> multiple_of_ln2(Vector x) {
  using C = ExpConstants<Number>;
  const Vector shifted = fma(x, broadcast(C::kLog2E), broadcast(C::kRoundToInteger));
  return {shifted, shifted - C::kRoundToInteger};
}

/// 2^n, for an x that is not below kSmallestExponent.
template <class Number, class Vector>
static inline Vector power_of_2(Vector shifted) {
  using C = ExpConstants<Number>;
  return (Vector)(((typename Lanes<Number>::Bits)shifted + C::kBias) << C::kFractionBits);
}

/// result, or 0 for an x below kSmallestExponent.
template <class Number, class Vector>
static inline Vector unless_too_small(Vector x, Vector result) {
  return x < ExpConstants<Number>::kSmallestExponent ? Vector{} : result;
}

/// sum_i coefficients[i] * r^i, where square is r^2. The even and the odd powers by Horner's scheme
/// each: half as many operations have to wait for another.
template <class Number, int count, class Vector>
static inline Vector polynomial(const Number (&coefficients)[count], Vector r, Vector square) {
  Vector last = broadcast(coefficients[count - 1]), other = broadcast(coefficients[count - 2]);
#pragma GCC unroll 16
  for (int i = count - 3; i >= 0; i -= 2) {
    last = fma(last, square, broadcast(coefficients[i]));
    if (i > 0) other = fma(other, square, broadcast(coefficients[i - 1]));
  }
  return count % 2 == 0 ? fma(last, r, other) : fma(other, r, last);
}

/// Relative error at most 2 units of rounding (2^-53 for double, 2^-24 for float), for x above
/// kSmallestExponent. In such units: n * kLn2High and the first difference are exact, so r is off by
/// at most 0.25, the rounding of the second difference, and the result by as much, relatively; the
/// polynomial is off by 0.17. Absolutely, rounding r^2 and the polynomial's terms costs 0.17, since
/// r^2 is at most 0.121, and r + r^2 * polynomial 0.25; the result being at least 0.707, together
/// 0.6. The last addition, of 1 in units of the power, costs 0.71; where the result is above 1 it
/// costs up to 1, but there the other terms are smaller by more. A NaN gives a NaN whatever its
/// bits, for the power is a factor and not added to an exponent.
template <class Number, class Vector>
static inline Vector exp_of_lanes(Vector x) {
  using C = ExpConstants<Number>;
  const auto [shifted, n] = multiple_of_ln2<Number>(x);
  Vector r = fma(n, broadcast(-C::kLn2High), x);
  r = fma(n, broadcast(-C::kLn2Low), r);

  const Vector square = r * r, power = power_of_2<Number>(shifted);
  const Vector exp_minus_1 = fma(square, polynomial(C::kPolynomial, r, square), r);
  return unless_too_small<Number>(x, fma(exp_minus_1, power, power));
}

static inline FloatLanes exp(FloatLanes x) {
  return exp_of_lanes<float>(x);
}
static inline DoubleLanes exp(DoubleLanes x) {
  return exp_of_lanes<double>(x);
}

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

/// Each of xs becomes its exp. An exp is one long chain of operations; several take turns.
///
/// Relative error at most 2^-101, for x.hi above -670; from there down to kSmallestExponent the low
/// part is subnormal and may be off by 2^-1075 more. x need be normalised.
///
/// r carries an error of at most u^2: only sums below 2^-53 are rounded, since x.lo, which may be
/// far larger than r.lo, is added exactly. exp(r) is even + r * odd, two polynomials in r^2 < 0.121
/// that need not wait for each other. A step of one costs 5u^2 for the product and 3u^2 for the sum,
/// damped by r^2 / 2 at least at every later step, so either is off by at most 8.6u^2 of itself, and
/// by 0.4u^2 more for the 5u^2 of r^2; the tail, rounded as its coefficients are, adds 2^-51.9 * 3u.
/// With even <= 1.061 and |r * odd| <= 0.354, whose product costs 5u^2 and whose sum 3u^2 of at most
/// 1.415, all that is below (9.6 + 5.0 + 4.3 + 1.5) u^2, and where r < 0 and the result is as small
/// as 0.707, below (9.6 + 5.0 + 2.2 + 1.1) u^2 / 0.707: 32u^2 = 2^-101 at most.
template <int count>
static inline void exp(DoubleDouble (&xs)[count]) {
  using C = ExpConstants<double>;
  using Vector = Several<DoubleLanes, count>;
  DoubleDoubleOf<Vector> x;
  Vector shifted, n;
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    const auto multiple = multiple_of_ln2<double>(xs[i].hi);
    x.hi.of[i] = xs[i].hi;
    x.lo.of[i] = xs[i].lo;
    shifted.of[i] = multiple.shifted;
    n.of[i] = multiple.n;
  }
  const Vector high = fma(n, broadcast(-C::kLn2High), x.hi);
  const auto middle = two_product(n, Vector(broadcast(-C::kLn2Low)));
  const auto without_low = two_sum(high, middle.hi);
  const auto with_low = two_sum(without_low.hi, x.lo);
  const Vector lowest = fma(n, broadcast(-C::kLn2Lowest), middle.lo);
  const auto r = fast_two_sum(with_low.hi, without_low.lo + with_low.lo + lowest);

  constexpr int kTail = sizeof kInverseFactorialTail / sizeof(double);
  Vector tail = broadcast(kInverseFactorialTail[kTail - 1]);
#pragma GCC unroll 16
  for (int term = kTail - 2; term >= 0; --term)
    tail = fma(tail, r.hi, broadcast(kInverseFactorialTail[term]));

  constexpr int kLast = sizeof kInverseFactorial / sizeof kInverseFactorial[0] - 1;
  static_assert(kLast % 2 == 0);
  const auto square = multiply(r, r);
  auto even = add_to_coefficient(kInverseFactorial[kLast],
                                 DoubleDoubleOf<Vector>{tail * r.hi, broadcast(0.0)});
  DoubleDoubleOf<Vector> odd{broadcast(kInverseFactorial[kLast - 1][0]),
                             broadcast(kInverseFactorial[kLast - 1][1])};
#pragma GCC unroll 16
  for (int term = kLast - 2; term >= 0; term -= 2) {
    even = add_to_coefficient(kInverseFactorial[term], multiply(even, square));
    if (term > 0) odd = add_to_coefficient(kInverseFactorial[term - 1], multiply(odd, square));
  }
  const auto sum = add(even, multiply(odd, r));
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) {
    const DoubleLanes power = power_of_2<double>(shifted.of[i]);
    xs[i] = {unless_too_small<double>(x.hi.of[i], sum.hi.of[i] * power),
             unless_too_small<double>(x.hi.of[i], sum.lo.of[i] * power)};
  }
}
static inline DoubleDouble exp(DoubleDouble x) {
  DoubleDouble xs[] = {x};
  exp(xs);
  return xs[0];
}

/// Each becomes its exp.
template <class Vector, int count>
[[gnu::always_inline]] static inline void exp(Vector (&xs)[count]) {
#pragma GCC unroll 8
  for (int i = 0; i < count; ++i) xs[i] = exp(xs[i]);
}

}  // namespace sdpa::kernel::SDPA_ISA
