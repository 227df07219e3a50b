#include "exact/real_scores.h"

#include "exact/big_sum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sdpa {

RealScores::RealScores(const Head& head, Index t, std::span<const Index> keys)
    : head_(head), keys_(keys), q_t_(static_cast<std::size_t>(head.n.d_k)) {
  head.q.read_rows(t, 1, q_t_.data());
  std::vector<double> k_j(q_t_.size());
  dots_.reserve(keys.size());
  for (Index j : keys) {
    head.k.read_rows(j, 1, k_j.data());
    dots_.push_back(exact_dot(q_t_.data(), k_j.data(), head.n.d_k));
  }
  big_dots_.resize(keys.size());
  group_positions();
}

void RealScores::group_positions() {
  order_.resize(keys_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  std::ranges::sort(order_, [this](Index a, Index b) { return compare(a, b) > 0; });
  group_of_.resize(keys_.size());
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const auto index = static_cast<Index>(at);
    if (at == 0 || compare(order_[at - 1], order_[at]) != 0) groups_.push_back({index, index});
    groups_.back().end = index + 1;
    group_of_[static_cast<std::size_t>(order_[at])] = groups_.size() - 1;
  }
}

namespace {

/// a - b, off by at most `error`.
struct Difference {
  double value, error;
};

Difference subtract(const ExactSum& a, const ExactSum& b) {
  const double high = a.high - b.high, low = a.low - b.low;
  return {high + low, a.error + b.error + 0x1p-50 * (std::fabs(high) + std::fabs(low))};
}

}  // namespace

/// Sign of score a minus score b, exactly.
int RealScores::compare(Index a, Index b) {
  const ExactSum &x = dots_[static_cast<std::size_t>(a)], &y = dots_[static_cast<std::size_t>(b)];
  if (x.exact() && y.exact()) {
    if (x.high != y.high) return x.high > y.high ? 1 : -1;
    return (x.low > y.low) - (x.low < y.low);
  }
  const Difference difference = subtract(x, y);
  if (std::fabs(difference.value) > difference.error) return difference.value > 0 ? 1 : -1;
  return mpfr_cmp(big_dot_of(a), big_dot_of(b));
}

double RealScores::least_gap(std::size_t above, std::size_t g) const {
  const Difference difference = subtract(dots_[static_cast<std::size_t>(first_of(above))],
                                         dots_[static_cast<std::size_t>(first_of(g))]);
  const double root = std::sqrt(static_cast<double>(head_.n.d_k));
  const double gap = (difference.value - difference.error) / root * (1 - 0x1p-50);
  return gap > 0 ? gap : 0;
}

void RealScores::difference(mpfr_ptr difference, std::size_t above, std::size_t g) {
  const mpfr_prec_t precision = mpfr_get_prec(difference);
  if (mpfr_get_prec(scale_) != precision) {
    mpfr_set_prec(scale_, precision);
    mpfr_set_ui(scale_, static_cast<unsigned long>(head_.n.d_k), MPFR_RNDN);
    mpfr_rec_sqrt(scale_, scale_, MPFR_RNDN);
  }
  dot_difference(difference, first_of(g), first_of(above));
  mpfr_mul(difference, difference, scale_, MPFR_RNDN);
}

/// q_t (k_a - k_b), rounded once.
void RealScores::dot_difference(mpfr_ptr difference, Index a, Index b) {
  const ExactSum &x = dots_[static_cast<std::size_t>(a)], &y = dots_[static_cast<std::size_t>(b)];
  if (!x.exact() || !y.exact()) {
    mpfr_sub(difference, big_dot_of(a), big_dot_of(b), MPFR_RNDN);
    return;
  }
  const double terms[] = {x.high, -y.high, x.low, -y.low}, ones[] = {1, 1, 1, 1};
  if (const ExactSum sum = exact_dot(terms, ones, 4); sum.exact()) {
    mpfr_set_d(difference, sum.high, MPFR_RNDN);
    mpfr_add_d(difference, difference, sum.low, MPFR_RNDN);
  } else {
    const BigFloat exact = big_dot(terms, ones, 4);
    mpfr_set(difference, exact, MPFR_RNDN);
  }
}

const BigFloat& RealScores::big_dot_of(Index position) {
  const auto at = static_cast<std::size_t>(position);
  if (!big_dots_[at]) {
    std::vector<double> k_j(q_t_.size());
    head_.k.read_rows(keys_[at], 1, k_j.data());
    big_dots_[at] = big_dot(q_t_.data(), k_j.data(), head_.n.d_k);
  }
  return *big_dots_[at];
}

}  // namespace sdpa
