#pragma once

// What the stages of attention need of an arithmetic, under the same names for all three: first what
// all share, then a block for plain numbers (FloatLanes, DoubleLanes), then one for DoubleDouble.
// `Real` is one of the three, `Vector` the lanes it is made of.

#include "kernel/double_double.h"
#include "kernel/exp.h"
#include "kernel/kernel.h"
#include "kernel/lanes.h"

namespace sdpa::kernel::SDPA_ISA {

/// Of an arithmetic:
///
///   Number     the type of operands and results
///   Vector     its lanes
///   Factor     what a number of q is in the first product
///   kVectors   vectors of queries of a tile
///   kSums      sums that a chain holds in registers
///   kTiles     tiles of a group; a block of k and v is fetched and converted once for all of them
///   kTogether  numerators that are computed at once, their steps taking turns
///   kHasLow    whether results have low parts
///   kSquares   whether the squares of numerators are summed, which the error bound needs
///   kError     what its roundings cost
template <class Real>
struct Arithmetic;

template <class Real>
using VectorOf = typename Arithmetic<Real>::Vector;
template <class Real>
using FactorOf = typename Arithmetic<Real>::Factor;
template <class Real>
using NumberOf = typename Arithmetic<Real>::Number;
template <class Real>
using ScaleOf = Scale<VectorOf<Real>>;

/// log2(e)/sqrt(d_k)
template <class Real>
inline ScaleOf<Real> scale_of(const Question& question) {
  using Number = NumberOf<Real>;
  const auto high = static_cast<Number>(question.scale_high),
             low = static_cast<Number>(question.scale_low);
  return make_scale<Number>(DoubleDoubleOf<VectorOf<Real>>{broadcast(high), broadcast(low)});
}

constexpr Index smaller(Index a, Index b) {
  return a < b ? a : b;
}

// ---- plain numbers ----

template <class N>
struct PlainArithmetic {
  using Number = N;
  using Vector = typename Lanes<N>::Vector;
  using Factor = Vector;
  // 4 keys times 3 vectors of sums leave registers for 3 vectors of q and one of a key.
  static constexpr int kVectors = 3;
  static constexpr int kSums = 12;
  static constexpr Index kTiles = 16;
  static constexpr int kTogether = 4;
  static constexpr bool kHasLow = false;
};
template <>
struct Arithmetic<FloatLanes> : PlainArithmetic<float> {
  static constexpr bool kSquares = false;
  static constexpr ArithmeticError kError = kFloat32Error;
};
template <>
struct Arithmetic<DoubleLanes> : PlainArithmetic<double> {
  static constexpr bool kSquares = true;
  static constexpr ArithmeticError kError = kFloat64Error;
};

/// Makes one lane of a factor the number q of query t.
template <class Vector, class Number>
inline void set_lane(Vector& factor, Index lane, Number q, const Question&, Index) {
  factor[lane] = q;
}

template <class Vector>
inline Vector high(Vector x) {
  return x;
}
template <class Vector>
inline Vector normalise(Vector x) {
  return x;
}
template <class Vector>
inline Vector add(Vector a, Vector b) {
  return a + b;
}
template <class Vector>
inline Vector subtract(Vector a, Vector b) {
  return a - b;
}
/// a - b
template <class Real>
inline Real difference(VectorOf<Real> a, VectorOf<Real> b) {
  return a - b;
}
template <class Vector>
inline Vector multiply(Vector a, Vector b) {
  return a * b;
}
template <class Vector>
inline Vector divide(Vector a, Vector b) {
  return a / b;
}

/// a * b and sum + a * b, as terms of a chain.
template <class Real>
inline Real product(VectorOf<Real> a, VectorOf<Real> b) {
  return a * b;
}
template <class Vector>
inline Vector add_product(Vector a, Vector b, Vector sum) {
  return fma(a, b, sum);
}

/// total + x; what rounding loses of it is added to `lost` (Knuth's two_sum).
template <class Vector>
inline Vector add_to_total(Vector total, Vector x, Vector& lost) {
  const Vector sum = total + x;
  const Vector x_part = sum - total;
  lost += (total - (sum - x_part)) + (x - x_part);
  return sum;
}

// ---- double-double ----

/// A factor of products that are cut at a power of two, lane by lane.
struct CutFactor {
  DoubleLanes value;
  DoubleLanes power;  ///< at least twice the sum of the absolute values of all products
};

template <>
struct Arithmetic<DoubleDouble> {
  using Number = double;
  using Vector = DoubleLanes;
  using Factor = CutFactor;
  static constexpr int kVectors = 1;  // two registers a sum, and few rows come this far
  static constexpr int kSums = 4;
  static constexpr Index kTiles = 8;  // rows want few columns, but a group those of all its rows
  static constexpr int kTogether = 4;
  static constexpr bool kHasLow = true;
  static constexpr bool kSquares = true;
  static constexpr ArithmeticError kError = kDoubleDoubleError;
};

inline void set_lane(CutFactor& factor, Index lane, double q, const Question& question, Index t) {
  factor.value[lane] = q;
  factor.power[lane] = question.dot_powers[t];
}

inline DoubleLanes high(DoubleDouble x) {
  return x.hi;
}
inline DoubleDouble normalise(DoubleDouble x) {
  return two_sum(x.hi, x.lo);
}
inline DoubleDouble subtract(DoubleDouble a, DoubleLanes b) {
  return kernel::SDPA_ISA::add(a, -b);
}
template <>
inline DoubleDouble difference<DoubleDouble>(DoubleLanes a, DoubleLanes b) {
  return two_sum(a, -b);
}

/// a * b of the scores = hi + lo, where hi is a multiple of 2^-53 power and |lo| at most 2^-53
/// power: sums of high parts are exact, and those of low parts are all that is rounded. lo itself is
/// rounded to 2^-53 of it. (Rump, Ogita, Oishi, "Accurate floating-point summation, part I", SIAM J.
/// Sci. Comput. 31 (2008), algorithm 3.2 ExtractVector, with an fma in place of the product.)
template <class>
inline DoubleDouble product(CutFactor a, DoubleLanes b) {
  const DoubleLanes high = fma(a.value, b, a.power) - a.power;
  return {high, fma(a.value, b, -high)};
}
inline DoubleDouble add_product(CutFactor a, DoubleLanes b, DoubleDouble sum) {
  const DoubleDouble term = product<DoubleDouble>(a, b);
  return {sum.hi + term.hi, sum.lo + term.lo};
}

/// a * b of the weighted sum. The sum is left unnormalised: high parts in one chain, their errors in
/// another (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005),
/// algorithm Dot2).
template <class>
inline DoubleDouble product(DoubleDouble a, DoubleLanes b) {
  const DoubleDouble high = two_product(a.hi, b);
  return {high.hi, fma(a.lo, b, high.lo)};
}
inline DoubleDouble add_product(DoubleDouble a, DoubleLanes b, DoubleDouble sum) {
  const DoubleDouble term = product<DoubleDouble>(a, b);
  const DoubleDouble next = two_sum(sum.hi, term.hi);
  return {next.hi, sum.lo + (next.lo + term.lo)};
}

/// Loses too little to keep.
inline DoubleDouble add_to_total(DoubleDouble total, DoubleDouble x, DoubleDouble&) {
  return add(total, x);
}

}  // namespace sdpa::kernel::SDPA_ISA
