#pragma once

#include "kernel/blocks.h"

namespace sdpa::kernel {

/// How far the roundings of one arithmetic of the kernel may go, at most: what each kind of step
/// contributes to the error of a score, a numerator or a sum, relative to the size that its line
/// names. exact/bound.h adds them up.
struct ArithmeticError {
  double partial_sum;  ///< of a dot product, relative to each partial sum
  double dot;          ///< of a dot product besides, for each chain, relative to |q_t| |k_j|
  double scale;        ///< of scaling, relative to the scaled score
  double cap;          ///< of capping, relative to the capped score (cap.h)
  double bias;         ///< of adding a bias, relative to the largest scaled score and bias together
  double subtract;     ///< of subtracting the maximum, relative to the difference
  double exp;          ///< of 2^x, relative to it
  double multiply;     ///< of a product, relative to it
  double rounding;     ///< of the weighted sum, relative to each term and for each rounding of it
  double weighted_sum;  ///< of the weighted sum besides, relative to sum_j w_j |v_j|
  double total;         ///< of the same, for each span that joins the total
  double sum;           ///< of the sum of numerators, relative to it
  double divide;        ///< of the division, relative to the quotient
  double underflow;     ///< what a product that underflows may lose
};

namespace detail {
inline constexpr double u = 0x1p-53, u2 = u * u;
inline constexpr double kFeatures = kFeatureChain, kKeys = kKeyChain;
inline constexpr double kChains = kKeyBlock / kKeyChain;  // of a block
inline constexpr double kBlocks = kKeySpan / kKeyBlock;   // of a span
}  // namespace detail

/// Nothing is claimed of float32.
inline constexpr double kUnknown = __builtin_huge_val();
inline constexpr ArithmeticError kFloat32Error{kUnknown, kUnknown, kUnknown, kUnknown, kUnknown,
                                               kUnknown, kUnknown, kUnknown, kUnknown, kUnknown,
                                               kUnknown, kUnknown, kUnknown, kUnknown};

/// float64 rounds to u = 2^-53. The scale is held in two doubles; the rest of its error has room in
/// that of exp (exp.h).
inline constexpr ArithmeticError kFloat64Error{
    .partial_sum = detail::u,
    .dot = 0,
    .scale = 0,
    .cap = 16 * detail::u,
    .bias =
        3 * detail::u,  // fma(s, factor, fma(s, its low part, bias)): one each of both, and room
    .subtract = detail::u,
    .exp = 2 * detail::u,
    .multiply = 2 * detail::u,
    .rounding = detail::u,
    .weighted_sum = 0,
    .total = 0,
    .sum = (detail::kKeys + detail::kChains + detail::kBlocks + 1) * detail::u,
    .divide = detail::u,
    .underflow = 0x1p-1074,
};

/// double-double, in units of u^2: its operations in double_double.h, exp in exp.h. Products of the
/// scores are cut (arithmetic.h).
inline constexpr ArithmeticError kDoubleDoubleError{
    .partial_sum = 0,
    .dot = (4 * detail::kFeatures * (detail::kFeatures + 3) / 2 + 3) * detail::u2,
    .scale = (5 + 16) * detail::u2,  // the product, and log2(e)/sqrt(d_k) itself
    .cap = 640 * detail::u2,
    .bias = (5 + 16 + 3) * detail::u2,  // the product, 1/sqrt(d_k) itself, and the sum
    .subtract = 2 * detail::u2,
    .exp = 32 * detail::u2,
    .multiply = 5 * detail::u2,
    .rounding = 0,
    .weighted_sum =
        (detail::kKeys * detail::kKeys + 2 + 3 * (detail::kChains + detail::kBlocks)) * detail::u2,
    .total = 3 * detail::u2,
    .sum = 3 * (detail::kKeys + detail::kChains + detail::kBlocks) * detail::u2,
    .divide = 15 * detail::u2,
    .underflow = 0x1p-1072,
};

}  // namespace sdpa::kernel
