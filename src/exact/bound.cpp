#include "exact/bound.h"

#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

// How an error comes about. u is 2^-53. Bounds are to first order; kSlack covers the products of
// two errors as long as each is below kLargestError, and beyond that nothing is claimed.
//
// 1. Scores. A rounding is off by at most u times what it rounds (Higham, "Accuracy and Stability
//    of Numerical Algorithms", 2nd ed., section 3.3, running error analysis). So in float64 q_t
//    k_j is off by u times the sum of the absolute values of all partial sums, at most P(q_t)
//    P(k_j) (norms.h). sum_i |q_i k_ji| is at most N = |q_t| |k_j| (Cauchy-Schwarz). In
//    double-double products are cut at a power of two P from 2N up to 4N (dot_power below). High
//    parts add up exactly: they are multiples of u P, and no sum of them exceeds P. A low part is
//    at most u P; it, and each sum of them, is rounded: n products of a chain are off by (n (n +
//    1) / 2 + n) u^2 P. Each chain that joins adds 3u^2 N. M is 1/sqrt(d_k) times N, a bound of
//    all scores.
// 2. Numerators. p_j = exp(s_j - m), s_j and m being scaled: the subtraction is exact where scores
//    are bounded (m = 0), else off by `subtract` 2M. Scaling adds `scale` times what is scaled, at
//    most M or 2M; exp is off by `exp`, relatively. An absolute error of the argument is a relative
//    one of p_j. Where maxima are raised, at most once a block and once a span, what was summed
//    before takes a factor that is off by `exp` and `multiply`, and by `subtract` and `scale` times
//    the raise; all raises together are at most 2M. So each numerator is p_j (1 + e_j) with |e_j|
//    <= W, the sum of all these.
// 3. Numerators that are off so change the output by sum_j w_j e_j (v_j - o) / (1 + sum_j w_j
//    e_j), at most sum_j w_j |e_j| |v_j| + W |o|. Where |e_j| is a multiple of a number x_j of the
//    key, as of P(k_j), sum_j w_j x_j |v_j| is at most the largest x_j |v_j|, and at most |w| times
//    the norm of all x_j v_j (Cauchy-Schwarz again); the smaller is taken.
// 4. The second sum is off by u sum_j w_j |v_j| n_j where key j takes part in n_j roundings
//    (Higham, section 4.2): `roundings` of norms.h. Those of the compensated total are one each,
//    and (u * spans)^2 more, which kSlack covers up to 10^7 spans. In double-double all n_j are
//    taken as the largest.
// 5. The sum of the numerators, all positive, is off by `sum`, relatively, and the division by
//    `divide`.
// 6. Where m is the maximum, numerators below 2^-1017 may be off by 2^-1021 more: they count as
//    zero, or something is subnormal on the way to them. The sum is then about 1 or more. A small
//    weight can be lost so, but of an output no more than T_k 2^-1020 of the largest value, to which
//    2. and 3. add 2^-101/sqrt(T_k) of it at least, so that kSlack has room. Products that underflow
//    lose at most `underflow` each.
//
// What a, the arithmetic, contributes to each of these is in kernel/error.h.

namespace {

constexpr double kFeatures = kernel::kFeatureChain;

constexpr double kSlack = 1 + 0x1p-8;
constexpr double kLargestError = 0x1p-12;

/// 1/sqrt(d_k)
double inverse_root(const Head& head) {
  return 1 / std::sqrt(static_cast<double>(head.n.d_k));
}

}  // namespace

double dot_power(const Norms& norms, double q_norm) {
  int exponent;
  std::frexp(q_norm * norms.k * kSlack, &exponent);
  return std::ldexp(2, exponent);
}

double score_bound(const Head& head, const Norms& norms, double q_norm) {
  return inverse_root(head) * q_norm * norms.k * kSlack;
}

RowBound::RowBound(const kernel::ArithmeticError& a, const Head& head, const Norms& norms,
                   const QueryNorms& query, bool bounded, double sum, double squares)
    : norms_(norms) {
  const double chains = std::ceil(static_cast<double>(head.n.d_k) / kFeatures);
  const auto keys = static_cast<double>(head.n.T_k);
  const double spans = std::ceil(keys / kernel::kKeySpan);
  const double raises = std::ceil(keys / kernel::kKeyBlock) + spans;
  const double M = score_bound(head, norms, query.norm);
  partial_sums_ = inverse_root(head) * a.partial_sum * query.partial * kSlack;
  weights_ =
      a.dot * chains * M + a.scale * M + a.exp + static_cast<double>(head.n.d_k) * a.underflow;
  if (!bounded) weights_ += (4 * a.subtract + 3 * a.scale) * M + raises * (a.exp + a.multiply);
  weights_ *= kSlack;
  all_weights_ = weights_ + partial_sums_ * norms.k_partial;
  if (!(all_weights_ < kLargestError)) weights_ = all_weights_ = HUGE_VAL;

  roundings_ = a.rounding * kSlack;
  sums_ = (a.weighted_sum + spans * a.total) * kSlack;
  quotient_ = (a.sum + spans * a.total + a.divide) * kSlack;
  spread_ = std::sqrt(squares) / sum * kSlack;
  underflow_ = bounded ? 0 : keys * 0x1p-1021 / sum;
  product_underflow_ = keys * a.underflow / sum + 2 * a.underflow;
}

void RowBound::outputs(std::span<const Index> columns, const double* o, double* error) const {
  const double by_norm = spread_ * (weights_ + sums_), by_norm_partial = spread_ * partial_sums_,
               by_norm_roundings = spread_ * roundings_;
  const double by_largest = all_weights_ + sums_ + roundings_ * roundings(0);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto d = static_cast<std::size_t>(columns[i]);
    const double largest = norms_.v_largest[d];
    const double sums = std::min(by_largest * largest,
                                 by_norm * norms_.v[d] + by_norm_partial * norms_.v_partial[d] +
                                     by_norm_roundings * norms_.v_roundings[d]);
    const double e = sums + (all_weights_ + quotient_) * std::fabs(o[i]) + product_underflow_;
    error[i] = largest == 0 ? 0 : e;
  }
}

void RowBound::weights(Index count, const double* w, double* error) const {
  for (Index j = 0; j < count; ++j)
    error[j] = (2 * all_weights_ + quotient_) * w[j] + underflow_ + product_underflow_;
}

}  // namespace sdpa
