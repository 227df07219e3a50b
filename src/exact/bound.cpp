#include "exact/bound.h"

#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

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
//    1) / 2 + n) u^2 P. Each chain that joins adds 3u^2 N. M is N times the scale, a bound of
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
// 7. Where the near keys of a row are known (near_keys.h), W is that of their numerators. N is then
//    the largest sum_i |q_i k_ji| among them, and the partial sums of a dot product are together at
//    most the largest n_i (norms.h) times that. The largest score is near, and so is what the kernel
//    takes for it; a raise between scores that are not near changes no sum that matters. Computed or
//    true, the numerator of another key is at most exp(-gap) of the largest, up to the roundings of
//    the argument: all T_k of them change the sum of the numerators and that of the values by as
//    much as `left_out` says, relatively, either way.
//
// 8. Where a bias is added, each of at most B, the kernel scales scores first: in place of M stands
//    M + B, and `bias` times that is added once. A bias that is more than 2M + 750 below the largest
//    one makes a weight below exp(-750) < 2^-1074, and a numerator of the kernel that is 0, or as
//    small: it counts as one that underflows, and does not matter for B. Numerators may underflow
//    then even if no maximum is subtracted.
//
// 9. Where scores are capped, C tanh(s/C) is off by `cap` times itself; what s is off by does not grow.
//    It is scaled then as where a bias is added. In place of M stands the smaller of M and C, but for
//    the dot products.
// 10. A sink is a key with a value of 0, whose numerator, like what others are lowered by, is off by
//    `bias` and `scale` times the difference of the sink and the maximum, and by `exp`; to lower costs
//    `multiply`, and so does the sum, which has one term more. The squares are not below what they
//    would be with all numerators lowered.
//
// What a, the arithmetic, contributes to each of these is in kernel/error.h.

namespace {

constexpr double kFeatures = kernel::kFeatureChain;

constexpr double kSlack = 1 + 0x1p-8;
constexpr double kLargestError = 0x1p-12;

/// Where nothing is claimed of scores beyond this. In double-double only high parts have their
/// maximum subtracted. Low parts of a chain are together at most kFeatures u P, and P is at most 4N:
/// so what is left of a score is at most 8, and no power overflows.
constexpr double kLargestScore = 0x1p50;
static_assert(kFeatures * 4 * 0x1p-53 * kLargestScore <= 8);

/// Raises of the maximum on the way through all keys.
double raises(const Head& head) {
  const auto keys = static_cast<double>(head.n.T_k);
  return std::ceil(keys / kernel::kKeyBlock) + std::ceil(keys / kernel::kKeySpan);
}

/// What W holds besides the partial sums, where M bounds the scores and `bias` what is added to them.
double weights_error(const kernel::ArithmeticError& a, const Head& head, double M, bool bounded,
                     double bias = 0) {
  if (!head.is_scale_moderate()) return HUGE_VAL;
  const double capped = head.capped(M), S = capped + bias;
  const double chains = std::ceil(static_cast<double>(head.n.d_k) / kFeatures);
  double error =
      a.dot * chains * M + a.scale * S + a.exp +
      static_cast<double>(head.n.d_k) * a.underflow * std::max(1.0, head.score_scale_high);
  if (head.has_softcap()) error += a.cap * capped;
  if (head.visible.bias || head.has_softcap()) error += a.bias * S;
  if (head.has_sink()) {
    const double apart = S + std::fabs(head.sink);
    error += 2 * ((a.bias + a.scale) * apart + a.exp + a.multiply);
  }
  if (!bounded) error += (4 * a.subtract + 3 * a.scale) * S + raises(head) * (a.exp + a.multiply);
  return error * kSlack;
}

double known(double error, double M) {
  return error < kLargestError && M < kLargestScore ? error : HUGE_VAL;
}

/// A power of two from twice x to four times.
double power_above(double x) {
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(2, exponent);
}

double partial_sums_error(const kernel::ArithmeticError& a, const Head& head, double sums) {
  return head.score_scale_high * a.partial_sum * sums * kSlack;
}

}  // namespace

double numerator_error(const kernel::ArithmeticError& a, const Head& head, const Norms& norms,
                       const QueryNorms& query) {
  return weights_error(a, head, score_bound(head, norms, query.norm), false) +
         partial_sums_error(a, head, query.partial) * norms.k_partial;
}

double dot_power(const Norms& norms, double q_norm) {
  return power_above(q_norm * norms.k * kSlack);
}

double dot_power(const NearKeys& near) {
  return power_above(near.products * kSlack);
}

double score_bound(const Head& head, const Norms& norms, double q_norm) {
  return head.score_scale_high * q_norm * norms.k * kSlack;
}

double score_bound(const Head& head, const NearKeys& near) {
  return head.score_scale_high * near.products * kSlack;
}

double left_out(const Head& head, const NearKeys& near) {
  return static_cast<double>(head.n.T_k) * std::exp(-near.gap) * kSlack;
}

RowBias row_bias(const Head& head, Index t, double scores) {
  if (!head.visible.bias) return {};
  constexpr double kNegligible = 750;
  double least = HUGE_VAL, largest = -HUGE_VAL;
  std::vector<double> values(static_cast<std::size_t>(kernel::kKeyBlock));
  std::uint32_t flags[kernel::kKeyBlock / kWordKeys];
  for (Index first = 0; first < head.n.T_k; first += kernel::kKeyBlock) {
    const Index count = std::min(kernel::kKeyBlock, head.n.T_k - first);
    head.visible.flags(t, first, count, flags);
    head.visible.bias->read(t, first, count, values.data());
    for (const KeyRun& run : runs_of_flags(flags, count))
      for (Index j = run.first; j < run.end; ++j) {
        least = std::min(least, values[static_cast<std::size_t>(j)]);
        largest = std::max(largest, values[static_cast<std::size_t>(j)]);
      }
  }
  if (least > largest) return {};
  const double lowest = std::max(least, largest - 2 * scores - kNegligible);
  return {std::fabs(largest) * kSlack, std::max(std::fabs(largest), std::fabs(lowest)) * kSlack};
}

RowBound::RowBound(const kernel::ArithmeticError& a, const Head& head, const Norms& norms,
                   bool bounded, double sum, double squares)
    : norms_(norms) {
  const auto keys = static_cast<double>(head.n.T_k);
  const double spans = std::ceil(keys / kernel::kKeySpan);
  roundings_ = a.rounding * kSlack;
  sums_ = (a.weighted_sum + spans * a.total) * kSlack;
  quotient_ = (a.sum + spans * a.total + a.divide) * kSlack;
  spread_ = std::sqrt(squares) / sum * kSlack;
  underflow_ = bounded && !head.visible.bias && !head.has_sink() ? 0 : keys * 0x1p-1021 / sum;
  product_underflow_ = keys * a.underflow / sum + 2 * a.underflow;
}

RowBound::RowBound(const kernel::ArithmeticError& a, const Head& head, const Norms& norms,
                   const QueryNorms& query, bool bounded, double sum, double squares, double bias)
    : RowBound(a, head, norms, bounded, sum, squares) {
  const double M = score_bound(head, norms, query.norm);
  partial_sums_ = partial_sums_error(a, head, query.partial);
  weights_ = weights_error(a, head, M, bounded, bias);
  all_weights_ = known(weights_ + partial_sums_ * norms.k_partial, M + bias);
  if (!(all_weights_ < HUGE_VAL)) weights_ = HUGE_VAL;
}

RowBound::RowBound(const kernel::ArithmeticError& a, const Head& head, const Norms& norms,
                   const NearKeys& near, bool bounded, double sum, double squares)
    : RowBound(a, head, norms, bounded, sum, squares) {
  const double M = score_bound(head, near);
  partial_sums_ = 0;
  all_weights_ = known(weights_error(a, head, M, bounded) +
                           partial_sums_error(a, head, norms.partial_sums.front() * near.products),
                       M);
  weights_ = all_weights_;
  left_out_ = 2 * left_out(head, near);
  quotient_ += left_out_;
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
    const double e = sums + (all_weights_ + quotient_) * std::fabs(o[i]) + left_out_ * largest +
                     product_underflow_;
    error[i] = largest == 0 ? 0 : e;
  }
}

void RowBound::weights(Index count, const double* w, double* error) const {
  for (Index j = 0; j < count; ++j)
    error[j] = (2 * all_weights_ + quotient_) * w[j] + underflow_ + product_underflow_;
}

}  // namespace sdpa
