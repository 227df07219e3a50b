// How the bound is derived
//
// Model. Every operation in the accumulating type gives x (1 + delta), |delta| <= u (Higham,
// "Accuracy and Stability of Numerical Algorithms", 2nd ed., SIAM 2002, section 2.2). The worst
// case of n of them grows like n u (gamma_n, section 3.1): for ordinary data hundreds of times what
// is seen. What is seen grows like sqrt(n) u (Higham and Mary, "A New Approach to Probabilistic
// Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019): if the delta are independent with mean
// zero, |sum_i c_i delta_i| <= lambda u sqrt(sum_i c_i^2) but with probability
// 2 exp(-lambda^2 / 2). That is Hoeffding's inequality, which allows for delta that are always u in
// size. If they are uniform in [-u, u], of variance u^2 / 3, the tail is no heavier than that of a
// normal distribution, and lambda = 4 is 4 sqrt(3) = 6.9 standard deviations: less than 1e-11 for
// an element. This kSafety is the whole safety factor. Errors that are not independent (equal keys,
// shared factors) or not of mean zero (terms of a sum near or below one ulp of it) are added up
// without a square root, as said below.
//
// Let s_j be the scaled scores of row t, m the largest, w_j the weights, o_d = sum_j w_j v_jd.
//
// 1. Scores. If the logarithm of weight j is off by eps_j, then exactly
//      delta o_d = sum_j w_j (v_jd - o_d) (exp(eps_j - c) - 1),   c common to all j,
//    and what is common drops out because sum_j w_j (v_jd - o_d) = 0. The first order is
//    sum_j w_j (v_jd - o_d) eps_j, and the rest at most sum_j w_j |v_jd - o_d| (exp(x) - 1 - x)
//    with x = E_j + log sum_i w_i exp(E_i), where E_j >= |eps_j|. eps_j collects, as squares of
//    coefficients of u,
//      (d_k + 2) P_j^2  products and sums that never exceed P_j = sum_i |q_i k_ji| / sqrt(d_k)
//                       (<= |q| |k_j| / sqrt(d_k), which shows the growth), and the roundings of
//                       operands that come in a finer type
//      2 s_j^2          scaling, and storing the score
//      2 (s_j - m)^2    subtracting the maximum, and the factor log2(e) of kernels that use exp2
//      kExp^2           an exponential within two ulp
//    Keys of equal score may have equal errors: for them the square of the sum joins the sum of
//    squares. Shared by all keys are
//      * two roundings of q, as it is read and when it is scaled, for each feature i:
//        sum_i delta_i q_i cov_w(k_i, v_d) / sqrt(d_k), where cov^2 <= var_w(k_i) var_w(v_d);
//      * the constants 1/sqrt(d_k) (within one ulp, for hardware that approximates it) and log2(e):
//        kScaleError |sum_j w_j s_j (v_jd - o_d)|, without a square root.
// 2. Running maximum (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018;
//    Dao et al., "FlashAttention", 2022). Each new maximum multiplies all that was summed by one
//    exponential, so its error meets sum_{i<j} w_i (v_id - o_d), at most G_d, the largest of these
//    prefixes in size. New maxima are counted in the data, from the first key and from the last.
// 3. Sums over keys. T_k additions, and one product for each new maximum, none of which exceeds
//    A_d = sum_j w_j |v_jd|; the roundings of all v_jd, of all products with them, and of weights
//    divided before that, each count once. The sum of the exponentials is alike with 1 for A_d,
//    then come a reciprocal, a product and the stored result; all this is relative to |o_d|.
//    Terms less than kResolved ulp apart leave nearly the same remainder each time, so the mean is
//    not zero; the extreme is a term below half an ulp, which vanishes. For every term that near to
//    its predecessor min(term, u A_d) is added without a square root.
// 4. Weights stored in a type with u_w > u: w_j (1 + delta_j). Weights within 2 u_w of each other
//    may have the same delta, and are grouped like equal scores. If the sum is taken before that
//    rounding, delta_j meets w_j v_jd, otherwise w_j (v_jd - o_d): the larger one is taken. Below
//    the normal range a weight is off by half the smallest subnormal, and so is a product.
// 5. Products of errors: as in gamma_n, everything is divided by 1 - rho, rho the error of the sum
//    of exponentials.
// 6. The result is rounded once: half an ulp of its type.

#include "report/row_error.h"

#include "array/float_format.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

constexpr double kSafety = 4;
constexpr double kExp = 4;         // two ulp are 4 u
constexpr double kScaleError = 3;  // one ulp and half an ulp, in u
constexpr double kResolved = 4;    // ulp of a sum, of which one is at most 2 u times the sum

double square(double x) {
  return x * x;
}

/// How often a running maximum over the scores is replaced.
template <class Iterator>
double count_new_maxima(Iterator first, Iterator last) {
  double count = 0;
  for (Iterator largest = first; first != last; ++first)
    if (*first > *largest) {
      largest = first;
      ++count;
    }
  return count;
}

}  // namespace

TextbookHead::TextbookHead(const Array& k_array, const Array& v_array)
    : T_k(k_array.shape()[0]),
      d_k(k_array.shape()[1]),
      d_v(v_array.shape()[1]),
      scale(1 / std::sqrt(static_cast<double>(d_k))),
      k_transposed(textbook::transposed(k_array)),
      v(textbook::values_of(v_array)),
      column_sizes(static_cast<std::size_t>(d_v)) {
  for (std::size_t at = 0; at < v.size(); ++at)
    column_sizes[at % column_sizes.size()] += std::fabs(v[at]);
}

RowError::RowError(const TextbookHead& head, const Arithmetic& arithmetic)
    : head_(head),
      arithmetic_(arithmetic),
      u_(unit_roundoff(arithmetic.accumulate)),
      u_w_(std::max(u_, unit_roundoff(arithmetic.weights))) {
  for (auto* of_keys : {&s_, &p_, &w_, &e_, &rest_})
    of_keys->resize(static_cast<std::size_t>(head.T_k));
  for (auto* of_columns : {&o_, &allowed_, &a_, &linear_, &variance_, &weight_variance_,
                           &shared_scale_, &prefix_, &largest_prefix_, &last_term_, &group_})
    of_columns->resize(static_cast<std::size_t>(head.d_v));
}

void RowError::compute(const double* q_t) {
  textbook::scores(q_t, head_.k_transposed, head_.scale, s_);
  m_ = textbook::softmax(s_, w_);
  textbook::weighted_sum(w_, head_.v, o_);
  score_sizes(q_t);
  sort_by_score();
  score_errors();
  value_sizes();
  sums_over_keys(key_spread(q_t));
  equal_errors();
  for (std::size_t d = 0; d < o_.size(); ++d) allowed_[d] = allowed_error(d);
}

void RowError::score_sizes(const double* q_t) {
  std::fill(p_.begin(), p_.end(), 0.0);
  const double* k_ij = head_.k_transposed.data();
  for (Index i = 0; i < head_.d_k; ++i)
    for (double& p_j : p_) p_j += std::fabs(q_t[i] * *k_ij++);
  for (double& p_j : p_) p_j *= head_.scale;
}

void RowError::sort_by_score() {
  by_score_.clear();
  for (std::size_t j = 0; j < w_.size(); ++j)
    if (w_[j] > 0) by_score_.push_back(j);
  std::ranges::sort(by_score_, [&](auto a, auto b) { return s_[a] > s_[b]; });
}

/// Part 1 for each key, and the count of part 2.
void RowError::score_errors() {
  double common = 0;
  for (std::size_t j = 0; j < w_.size(); ++j) {
    e_[j] = w_[j] == 0 ? 0
                       : std::sqrt(static_cast<double>(head_.d_k + 2) * square(p_[j]) +
                                   2 * square(s_[j]) + 2 * square(s_[j] - m_) + square(kExp));
    common += w_[j] * std::exp(kSafety * u_ * e_[j]);
  }
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const double x = kSafety * u_ * e_[j] + std::log(common);
    rest_[j] = std::expm1(x) - x;
  }
  new_maxima_ = count_new_maxima(s_.begin(), s_.end()) + count_new_maxima(s_.rbegin(), s_.rend());
}

void RowError::value_sizes() {
  std::fill(a_.begin(), a_.end(), 0.0);
  const double* v_jd = head_.v.data();
  for (double w_j : w_)
    for (double& a_d : a_) a_d += std::fabs(w_j * *v_jd++);
}

/// sum_i q_i^2 var_w(k_i) / d_k
double RowError::key_spread(const double* q_t) {
  double spread = 0;
  const double* k_ij = head_.k_transposed.data();
  for (Index i = 0; i < head_.d_k; ++i) {
    double mean = 0, mean_square = 0;
    for (double w_j : w_) {
      mean += w_j * *k_ij;
      mean_square += w_j * square(*k_ij++);
    }
    spread += square(head_.scale * q_t[i]) * std::max(0.0, mean_square - square(mean));
  }
  return spread;
}

/// All but the errors that may be equal for several keys.
void RowError::sums_over_keys(double spread) {
  for (auto* of_columns :
       {&linear_, &variance_, &weight_variance_, &shared_scale_, &prefix_, &largest_prefix_})
    std::fill(of_columns->begin(), of_columns->end(), 0.0);
  sum_bias_ = 0;
  for (std::size_t j = 0; j < w_.size(); ++j) {
    if (w_[j] == 0) continue;  // its score may be -inf
    const double* v_j = head_.v.data() + j * o_.size();
    for (std::size_t d = 0; d < o_.size(); ++d) {
      const double term = w_[j] * v_j[d], deviation = w_[j] * (v_j[d] - o_[d]);
      prefix_[d] += deviation;
      largest_prefix_[d] = std::max(largest_prefix_[d], std::fabs(prefix_[d]));
      shared_scale_[d] += deviation * (s_[j] - m_);
      variance_[d] += 2 * spread * deviation * (v_j[d] - o_[d]);
      linear_[d] += rest_[j] / u_ * std::fabs(deviation);
      if (j > 0) linear_[d] += unresolved(term, last_term_[d], a_[d]);
      last_term_[d] = term;
    }
    if (j > 0) sum_bias_ += unresolved(w_[j], w_[j - 1], 1);
  }
  const double steps = static_cast<double>(head_.T_k) + new_maxima_;
  sum_variance_ = steps + 3;
  for (std::size_t d = 0; d < o_.size(); ++d) {
    linear_[d] += kScaleError * std::fabs(shared_scale_[d]) + sum_bias_ * std::fabs(o_[d]);
    variance_[d] += new_maxima_ * (square(kExp) + 1) * square(largest_prefix_[d]) +
                    (steps + 3) * square(a_[d]) + sum_variance_ * square(o_[d]);
  }
}

/// The error that a term of a sum of this size may have always in the same direction.
double RowError::unresolved(double term, double last, double size) const {
  if (std::fabs(term - last) > kResolved * 2 * u_ * size) return 0;
  return std::min(std::fabs(term) / u_, size);
}

/// The first order of part 1, and part 4.
void RowError::equal_errors() {
  add_grouped(0, variance_, [&](std::size_t j, std::size_t d) {
    return e_[j] * w_[j] * (head_.v[j * o_.size() + d] - o_[d]);
  });
  if (u_w_ == u_) return;
  add_grouped(2 * u_w_, weight_variance_, [&](std::size_t j, std::size_t d) {
    const double v_jd = head_.v[j * o_.size() + d];
    return w_[j] * std::copysign(std::max(std::fabs(v_jd), std::fabs(v_jd - o_[d])), v_jd);
  });
}

/// Adds to variance[d] the squares of x(j, d), and the square of their sum over keys whose scores
/// are within `width` of each other.
template <class Term>
void RowError::add_grouped(double width, Values& variance, Term x) {
  for (std::size_t first = 0, last; first < by_score_.size(); first = last) {
    std::fill(group_.begin(), group_.end(), 0.0);
    for (last = first;
         last < by_score_.size() && s_[by_score_[first]] - s_[by_score_[last]] <= width; ++last)
      for (std::size_t d = 0; d < o_.size(); ++d) {
        const double term = x(by_score_[last], d);
        group_[d] += term;
        variance[d] += square(term);
      }
    if (last - first > 1)
      for (std::size_t d = 0; d < o_.size(); ++d) variance[d] += square(group_[d]);
  }
}

double RowError::allowed_error(std::size_t d) const {
  const double rho = u_ * (kSafety * std::sqrt(sum_variance_) + sum_bias_);
  const double underflow =
      smallest_subnormal(arithmetic_.weights) / 2 * head_.column_sizes[d] +
      smallest_subnormal(arithmetic_.accumulate) / 2 * static_cast<double>(head_.T_k + 1);
  const double statistical =
      kSafety * std::sqrt(square(u_) * variance_[d] + square(u_w_) * weight_variance_[d]);
  const double computed = (u_ * linear_[d] + statistical + underflow) / (1 - rho);
  const double all = computed + ulp(std::fabs(o_[d]) + computed, arithmetic_.output) / 2;
  return rho < 1 && all < HUGE_VAL ? all : HUGE_VAL;
}

}  // namespace sdpa
