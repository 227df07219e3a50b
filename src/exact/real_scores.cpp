#include "exact/real_scores.h"

#include "base/error.h"
#include "exact/big_sum.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sdpa {

// Equal scores. Scores are f q_t k_j / sqrt(n) + b_j, f being the factor and n the root of the scale.
// Where n is the square of an integer r, the scale is rational, and scores are (f q_t k_j + r b_j) / r:
// for f = 1 sums of products as without a bias, for others exact sums of three factors. Else sqrt(n)
// is irrational, and two scores are equal only if both their dot products and their biases are.

//
// With a cap C, scores are C tanh(c q_t k_j / C) + b_j. Those are equal, too, only if both the dot
// products and the biases are: with E = exp(2 c q_t k_j / C) of one key and F of another, a difference
// beta between their tanh means 2 E - 2 F = beta (E F + E + F + 1). By the theorem of Lindemann and
// Weierstrass (real_average.cpp) such a sum of exponentials of algebraic numbers is zero only if the
// coefficients of each exponential that is distinct are, which leaves beta = 0 and E = F.
//
// A sink is a key of zeros with the sink for its bias.

void throw_undecided() {
  throw Error("undecided", std::to_string(kLargestCappedPrecision) +
                               " bits of scores with a cap do not tell how a result is rounded");
}

RealScores::RealScores(const Head& head, Index t, std::span<const Index> keys)
    : head_(head), t_(t), keys_(keys), q_t_(static_cast<std::size_t>(head.n.d_k)) {
  head.read_query(t, q_t_.data());
  if (head.visible.bias || head.has_sink()) {
    const auto root =
        static_cast<Index>(std::lround(std::sqrt(static_cast<double>(head.scale.root))));
    if (root * root == head.scale.root && !head.has_softcap()) root_ = static_cast<double>(root);
    has_bias_feature_ = root_ != 0 && head.scale.factor == 1;
    if (has_bias_feature_) {
      q_t_.push_back(root_);
    } else {
      for (Index position = 0; position < count(); ++position) biases_.push_back(bias_of(position));
    }
  }
  std::vector<double> k_j(q_t_.size());
  dots_.reserve(static_cast<std::size_t>(count()));
  for (Index position = 0; position < count(); ++position) {
    read_key(position, k_j.data());
    dots_.push_back(exact_dot(q_t_.data(), k_j.data(), std::ssize(q_t_)));
  }
  big_dots_.resize(dots_.size());
  group_positions();
}

double RealScores::bias_of(Index position) const {
  if (position == std::ssize(keys_)) return head_.sink;
  double bias = 0;
  if (head_.visible.bias)
    head_.visible.bias->read(t_, keys_[static_cast<std::size_t>(position)], 1, &bias);
  return bias;
}

void RealScores::read_key(Index position, double* k_j) const {
  if (position == std::ssize(keys_))
    std::fill(k_j, k_j + head_.n.d_k, 0.0);
  else
    head_.k.read_rows(keys_[static_cast<std::size_t>(position)], 1, k_j);
  if (has_bias_feature_) k_j[head_.n.d_k] = bias_of(position);
}

void RealScores::group_positions() {
  order_.resize(dots_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  std::ranges::sort(order_, [this](Index a, Index b) { return compare(a, b) > 0; });
  group_of_.resize(dots_.size());
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
  const int by_dots = compare_dots(a, b);
  if (biases_.empty()) return by_dots;
  const double x = biases_[static_cast<std::size_t>(a)], y = biases_[static_cast<std::size_t>(b)];
  const int by_biases = (x > y) - (x < y);
  if (by_dots == 0 || by_biases == 0 || by_dots == by_biases)
    return by_dots != 0 ? by_dots : by_biases;
  if (root_ != 0) return mpfr_sgn(static_cast<mpfr_srcptr>(rational_difference(a, b)));
  BigFloat difference(64);
  biased_difference(difference, a, b);
  return mpfr_sgn(static_cast<mpfr_srcptr>(difference));
}

int RealScores::compare_dots(Index a, Index b) {
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
  const auto a = static_cast<std::size_t>(first_of(above)),
             b = static_cast<std::size_t>(first_of(g));
  const double scale = head_.score_scale_high;
  if (head_.has_softcap()) return least_capped_gap(a, b);
  const Difference dots = subtract(dots_[a], dots_[b]);
  const double of_dots = dots.value * scale;
  const double of_biases = biases_.empty() ? 0 : biases_[a] - biases_[b];
  const double gap = of_dots + of_biases - dots.error * scale * (1 + 0x1p-50) -
                     0x1p-49 * (std::fabs(of_dots) + std::fabs(of_biases));
  return gap > 0 ? gap : 0;
}

/// Of scores that are capped: as far as a tanh that may be some units off tells.
double RealScores::least_capped_gap(std::size_t a, std::size_t b) const {
  const double cap = head_.softcap, scale = head_.score_scale_high;
  const auto capped = [&](const ExactSum& dot) { return cap * std::tanh(dot.high * scale / cap); };
  const double of_dots = capped(dots_[a]) - capped(dots_[b]);
  const double of_biases = biases_.empty() ? 0 : biases_[a] - biases_[b];
  const double error = (dots_[a].error + dots_[b].error) * scale * (1 + 0x1p-50) + 0x1p-40 * cap +
                       0x1p-49 * std::fabs(of_biases);
  const double gap = of_dots + of_biases - error;
  return gap > 0 ? gap : 0;
}

void RealScores::difference(mpfr_ptr difference, std::size_t above, std::size_t g) {
  score_difference(difference, first_of(g), first_of(above));
}

void RealScores::first(mpfr_ptr score, mpfr_ptr error) {
  // Of the product three roundings, and one of the sum, which is at most twice the larger term.
  const Index position = first_of(0);
  const double bias = biases_.empty() ? 0 : biases_[static_cast<std::size_t>(position)];
  mpfr_mul(score, big_dot_of(position), scale(mpfr_get_prec(score)), MPFR_RNDN);
  if (head_.has_softcap()) {  // three roundings more, and tanh makes no relative error larger
    mpfr_div_d(score, score, head_.softcap, MPFR_RNDN);
    mpfr_tanh(score, score, MPFR_RNDN);
    mpfr_mul_d(score, score, head_.softcap, MPFR_RNDN);
  }
  mpfr_abs(error, score, MPFR_RNDU);
  mpfr_add_d(error, error, std::fabs(bias), MPFR_RNDU);
  mpfr_mul_2si(error, error, 3 - mpfr_get_prec(score), MPFR_RNDU);
  mpfr_add_d(score, score, bias, MPFR_RNDN);
}

/// The scale, off by one rounding and 2^-32 of one.
const BigFloat& RealScores::scale(mpfr_prec_t precision) {
  if (mpfr_get_prec(scale_) != precision) {
    mpfr_set_prec(scale_, precision + 32);
    mpfr_set_ui(scale_, static_cast<unsigned long>(head_.scale.root), MPFR_RNDN);
    mpfr_rec_sqrt(scale_, scale_, MPFR_RNDN);
    mpfr_mul_d(scale_, scale_, head_.scale.factor, MPFR_RNDN);
    mpfr_prec_round(scale_, precision, MPFR_RNDN);
  }
  return scale_;
}

/// Score a minus score b; three roundings at most.
void RealScores::score_difference(mpfr_ptr difference, Index a, Index b) {
  if (!biases_.empty()) return biased_difference(difference, a, b);
  if (head_.has_softcap()) return capped_difference(difference, a, b);
  dot_difference(difference, a, b);
  mpfr_mul(difference, difference, scale(mpfr_get_prec(difference)), MPFR_RNDN);
}

/// C tanh(x) - C tanh(y), where x and y are c / C times the dot products, without the biases; off by
/// less than one rounding.
///
/// Where x > y >= 0 it is 2 C exp(-2 y) (1 - exp(2 (y - x))) / ((1 + exp(-2 x)) (1 + exp(-2 y))), in
/// which nothing cancels; tanh is odd. An error of an argument grows by as much as the argument is
/// large: that costs less than 40 bits, for from 2^30 on the exponentials underflow, to 0.
void RealScores::capped_difference(mpfr_ptr difference, Index a, Index b) {
  const mpfr_prec_t precision = mpfr_get_prec(difference) + 64;
  BigFloat x(precision), y(precision), apart(precision);
  const auto scaled = [&](BigFloat& to) {
    mpfr_mul(to, to, scale(precision), MPFR_RNDN);
    mpfr_div_d(to, to, head_.softcap, MPFR_RNDN);
  };
  mpfr_set(x, big_dot_of(a), MPFR_RNDN);
  mpfr_set(y, big_dot_of(b), MPFR_RNDN);
  dot_difference(apart, a, b);
  for (BigFloat* number : {&x, &y, &apart}) scaled(*number);
  const bool falls = mpfr_sgn(static_cast<mpfr_srcptr>(apart)) < 0;
  if (falls) {
    mpfr_swap(x, y);
    mpfr_neg(apart, apart, MPFR_RNDN);
  }
  if (mpfr_sgn(static_cast<mpfr_srcptr>(x)) < 0) {
    mpfr_swap(x, y);
    mpfr_neg(x, x, MPFR_RNDN);
    mpfr_neg(y, y, MPFR_RNDN);
  }
  if (mpfr_sgn(static_cast<mpfr_srcptr>(y)) < 0) {
    mpfr_tanh(x, x, MPFR_RNDN);
    mpfr_tanh(y, y, MPFR_RNDN);
    mpfr_sub(apart, x, y, MPFR_RNDN);
  } else {
    for (BigFloat* number : {&x, &y, &apart}) mpfr_mul_si(*number, *number, -2, MPFR_RNDN);
    mpfr_expm1(apart, apart, MPFR_RNDN);
    mpfr_mul_si(apart, apart, -2, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_exp(y, y, MPFR_RNDN);
    mpfr_mul(apart, apart, y, MPFR_RNDN);
    for (BigFloat* number : {&x, &y}) {
      mpfr_add_ui(*number, *number, 1, MPFR_RNDN);
      mpfr_div(apart, apart, *number, MPFR_RNDN);
    }
  }
  mpfr_mul_d(difference, apart, head_.softcap, MPFR_RNDN);
  if (falls) mpfr_neg(difference, difference, MPFR_RNDN);
}

/// The same where dot products and biases may cancel, but for scores that are equal not completely:
/// with so much precision that the difference is off by less than one rounding.
void RealScores::biased_difference(mpfr_ptr difference, Index a, Index b) {
  if (root_ != 0) {
    mpfr_div_d(difference, rational_difference(a, b), root_, MPFR_RNDN);
    return;
  }
  const mpfr_prec_t wanted = mpfr_get_prec(difference);
  for (mpfr_prec_t precision = wanted + 64;; precision *= 2) {
    if (head_.has_softcap() && precision > kLargestCappedPrecision) throw_undecided();
    BigFloat dots(precision), biases(precision), sum(precision);
    if (head_.has_softcap()) {
      capped_difference(dots, a, b);
    } else {
      dot_difference(dots, a, b);
      mpfr_mul(dots, dots, scale(precision), MPFR_RNDN);
    }
    mpfr_set_d(biases, biases_[static_cast<std::size_t>(a)], MPFR_RNDN);
    mpfr_sub_d(biases, biases, biases_[static_cast<std::size_t>(b)], MPFR_RNDN);
    mpfr_add(sum, dots, biases, MPFR_RNDN);
    // Dots are off by at most three roundings, and biases and their sum by one each.
    const bool is_zero = mpfr_zero_p(static_cast<mpfr_srcptr>(dots)) != 0 &&
                         mpfr_zero_p(static_cast<mpfr_srcptr>(biases)) != 0;
    mpfr_exp_t largest = mpfr_get_emin();
    for (const BigFloat* term : {&dots, &biases})
      if (mpfr_zero_p(static_cast<mpfr_srcptr>(*term)) == 0)
        largest = std::max(largest, mpfr_get_exp(static_cast<mpfr_srcptr>(*term)));
    const bool is_close =
        mpfr_zero_p(static_cast<mpfr_srcptr>(sum)) == 0 &&
        mpfr_get_exp(static_cast<mpfr_srcptr>(sum)) > largest + 4 + wanted - precision;
    if (!is_zero && !is_close) continue;
    mpfr_set(difference, sum, MPFR_RNDN);
    return;
  }
}

/// r times score a minus score b where the scale is f / r, exactly: products of three doubles and
/// dots of T_k terms lie between 2^(-3 * 1074) and 2^(3 * 1024) T_k.
BigFloat RealScores::rational_difference(Index a, Index b) {
  constexpr mpfr_prec_t kExact = 6500;
  BigFloat dots(kExact), biases(kExact);
  mpfr_sub(dots, big_dot_of(a), big_dot_of(b), MPFR_RNDN);
  mpfr_mul_d(dots, dots, head_.scale.factor, MPFR_RNDN);
  mpfr_set_d(biases, biases_[static_cast<std::size_t>(a)], MPFR_RNDN);
  mpfr_sub_d(biases, biases, biases_[static_cast<std::size_t>(b)], MPFR_RNDN);
  mpfr_mul_d(biases, biases, root_, MPFR_RNDN);
  mpfr_add(dots, dots, biases, MPFR_RNDN);
  return dots;
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
    read_key(position, k_j.data());
    big_dots_[at] = big_dot(q_t_.data(), k_j.data(), std::ssize(q_t_));
  }
  return *big_dots_[at];
}

}  // namespace sdpa
