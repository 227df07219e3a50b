#include "attention/bound.h"

#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

// How an error comes about. u is 2^-53; bounds are to first order and widened at the end by kSlack,
// which covers the products of two errors as long as each is below kLargestError (beyond, nothing
// is claimed).
//
// 1. Scores. Each s_j = scale * sum_i q_i k_ji is off by at most `dot` * scale * sum_i |q_i k_ji|,
// which is at most `dot` * M
//    with M = scale * |q| * max_j |k_j| (Cauchy-Schwarz). A number is rounded once for each
//    addition it takes part in: at most kFeatureChain in its chain, then once for each chain that
//    joins (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 4.2).
//    Scaling adds `scale` * M.
// 2. Numerators. p_j = exp(s_j - m): the subtraction is exact where scores are bounded (m = 0),
// else off by
//    `subtract` * 2M; exp by `exp`, relatively. An absolute error of the argument is a relative one
//    of p_j. Where maxima are raised, at most once a block, earlier sums take a factor that is off
//    by `exp` and `multiply`, and by `subtract` times the raise; the raises together are at most
//    2M. So each numerator is p_j (1 + e_j) with |e_j| <= W, the sum of these.
// 3. Weights that are off so give sum_j w_j e_j (v_j - o) / (1 + sum_j w_j e_j), at most W (A +
// |o|) with A = sum_j w_j |v_j|.
//    A is at most the largest |v_j|, and at most |w| |v| (Cauchy-Schwarz again); the smaller is
//    taken.
// 4. The second sum is off by `weighted_sum` * A: at most kKeyChain roundings in a chain, then one
// a chain of the block; the
//    compensated total of blocks costs one more. Its other errors are below u^2 times the number of
//    blocks squared, which kSlack covers up to 10^7 blocks.
// 5. The sum of numerators, all positive, is off by `sum`, relatively, and the division by
// `divide`.
// 6. Numerators below 2^-1021 count as zero where m is the maximum, and so has the sum one that is
// about 1; products below 2^-1022
//    lose up to 2^-1074 each.
//
// In double-double, sums of products go as in Dot2 (Ogita, Rump, Oishi, "Accurate sum and dot
// product", SIAM J. Sci. Comput. 26 (2005), proposition 5.5): n terms are off by (n u)^2 of the sum
// of absolute values. The other operations' bounds are in kernel/double_double.h.
struct ArithmeticError {
  double (*dot)(double chains);
  double scale;
  double subtract;
  double exp;
  double multiply;
  double weighted_sum;
  double total;  // for each block of values, or chain of numerators, that joins a total
  double sum;
  double divide;
  double underflow;  // what a product that underflows may lose
};

namespace {

constexpr double u = 0x1p-53;
constexpr double u2 = u * u;
constexpr double kFeatures = kernel::kFeatureChain;
constexpr double kKeys = kernel::kKeyChain;
constexpr double kChainsOfBlock = kernel::kKeyBlock / kernel::kKeyChain;

constexpr double kSlack = 1 + 0x1p-8;
constexpr double kLargestError = 0x1p-12;

}  // namespace

const ArithmeticError kFloat64Error{
    .dot = [](double chains) { return (kFeatures + chains - 1) * u; },
    .scale = 2 * u,
    .subtract = u,
    .exp = 2 * u,
    .multiply = 2 * u,
    .weighted_sum = (kKeys + kChainsOfBlock) * u + u,
    .total = 0,
    .sum = kKeys * u + u,
    .divide = u,
    .underflow = 0x1p-1074,
};

const ArithmeticError kDoubleDoubleError{
    .dot = [](double chains) { return (kFeatures * kFeatures + 3 * chains) * u2; },
    .scale = 6 * u2,
    .subtract = 2 * u2,
    .exp = 32 * u2,
    .multiply = 5 * u2,
    .weighted_sum = (kKeys * kKeys + 2 + 3 * kChainsOfBlock) * u2,
    .total = 3 * u2,
    .sum = 3 * kKeys * u2,
    .divide = 15 * u2,
    .underflow = 0x1p-1072,
};

double score_bound(const Head& head, double q_norm) {
  return head.scale_high * q_norm * head.k_norm * kSlack;
}

RowBound::RowBound(const ArithmeticError& a, const Head& head, double q_norm, bool bounded,
                   double sum, double squares)
    : head_(head) {
  const double chains = std::ceil(static_cast<double>(head.n.d_k) / kFeatures);
  const double blocks = std::ceil(static_cast<double>(head.n.T_k) / kernel::kKeyBlock);
  const double M = score_bound(head, q_norm);
  weights_ = (a.dot(chains) + a.scale) * M + a.exp + static_cast<double>(head.n.d_k) * a.underflow;
  if (!bounded) weights_ += 4 * a.subtract * M + blocks * (a.exp + a.multiply);
  if (!(weights_ < kLargestError)) weights_ = HUGE_VAL;
  sums_ = a.weighted_sum + blocks * a.total;
  quotient_ = a.sum + kChainsOfBlock * blocks * a.total + a.divide;
  spread_ = std::sqrt(squares) / sum * kSlack;
  const auto keys = static_cast<double>(head.n.T_k);
  underflow_ = bounded ? 0 : keys * 0x1p-1021 / sum;
  product_underflow_ = keys * a.underflow / sum + 2 * a.underflow;
}

double RowBound::output(Index d, double o) const {
  const auto column = static_cast<std::size_t>(d);
  const double largest = head_.v_largest[column];
  if (largest == 0) return 0;
  const double A = std::min(largest, spread_ * head_.v_norm[column]);
  return ((weights_ + sums_) * A + (weights_ + quotient_) * std::fabs(o)) * kSlack +
         underflow_ * largest + product_underflow_;
}

void RowBound::outputs(const double* o, double* error) const {
  for (Index d = 0; d < head_.n.d_v; ++d) error[d] = output(d, o[d]);
}

double RowBound::weight(double w) const {
  return (2 * weights_ + quotient_) * w * kSlack + underflow_ + product_underflow_;
}

}  // namespace sdpa
