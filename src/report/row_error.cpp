// How the bound is derived
//
// Model. Every operation in the accumulating type gives x (1 + delta), |delta| <= u (Higham,
// "Accuracy and Stability of Numerical Algorithms", 2nd ed., SIAM 2002, section 2.2). The worst
// case of n of them grows like n u, what is seen like sqrt(n) u (Higham and Mary, "A New Approach
// to Probabilistic Rounding Error Analysis", SIAM J. Sci. Comput. 41, 2019): if the delta are independent with mean
// zero, |sum_i c_i delta_i| <= lambda u sqrt(sum_i c_i^2) but with probability
// 2 exp(-lambda^2 / 2). That is Hoeffding's inequality, which allows for delta that are always u in
// size. If they are uniform in [-u, u], of variance u^2 / 3, the tail is no heavier than that of a
// normal distribution, and lambda = 4 is 4 sqrt(3) = 6.9 standard deviations: less than 1e-11 for
// an element. This kSafety is the whole safety factor. Errors that are not independent (equal keys,
// shared factors) or not of mean zero (terms of a sum near or below one ulp of it) are added up
// without a square root, as said below.
//
// Sums. An addition is off by u times the partial sum S it gives, so a sum of n terms x by
// sum S^2, in units of u^2. In an order that is not chosen against the data, S after a share z of
// the terms is z times the total and a deviation of variance z (1 - z) sum x^2, so that sum S^2 is
// about n (total^2 / 3 + sum x^2 / 6). Half of n (total^2 + sum x^2) is taken, and what the data's
// own order gives is added: sum S^2 of the running sum, and of eight interleaved ones, which see
// terms that alternate. Partial sums of tiles and of split sums are differences of these.
// Identical terms have identical errors while their sum stays in one binade: an addition of one of
// c identical terms counts c times.
//
// Let s_j be the scaled scores of row t, m the largest, w_j the weights, o_d = sum_j w_j v_jd.
//
// 1. Scores. If the logarithm of weight j is off by eps_j, then exactly
//      delta o_d = sum_j w_j (v_jd - o_d) (exp(eps_j - c) - 1),   c common to all j,
//    and what is common drops out because sum_j w_j (v_jd - o_d) = 0. The first order is
//    sum_j w_j (v_jd - o_d) eps_j, and the rest at most sum_j w_j |v_jd - o_d| (exp(x) - 1 - x)
//    with x = E_j + log sum_i w_i exp(E_i), where E_j >= |eps_j|. eps_j collects, as squares of
//    coefficients of u,
//      the sum of d_k products, as above; three times the sum of their squares for the products
//                       and the roundings of operands that come in a finer type
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
//    prefixes in size; the product is rounded, at most G_d + |o_d|. New maxima are counted in the
//    data, from the first key and from the last, and one for every kTile keys is added, for kernels
//    that multiply by an exponential of 0.
// 3. Sums over keys: of w_j v_jd as above; the roundings of all v_jd, of all products with them, and
//    of weights divided before that, each count once. The sum of the exponentials, whose partial
//    sums are all at most 1, is relative to |o_d|; so are a reciprocal, a product and the stored
//    result.
//    Terms nearer than kResolved ulp of the sum A_d = sum_j w_j |v_jd| to their predecessors, on the
//    average of kBlock keys, leave nearly the same remainder each time, so the mean is not zero; the
//    extreme is a term below half an ulp, which vanishes. For every such term min(term, u A_d) is
//    added without a square root. Of the exponentials the largest is 1, a number of the grid on
//    which the sum lies: a term leaves no more than its distance from 1 and its own error.
// 4. Weights stored in a type with u_w > u: w_j (1 + delta_j). Weights within 2 u_w of each other
//    may have the same delta, and are grouped like equal scores. If the sum is taken before that
//    rounding, delta_j meets w_j v_jd, otherwise w_j (v_jd - o_d): the larger one is taken. Below
//    the normal range a weight is off by half the smallest subnormal, and so is a product.
// 5. Products of errors: as in gamma_n, everything is divided by 1 - rho, rho the error of the sum
//    of exponentials.

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
constexpr double kResolved = 2;    // ulp of a sum, of which one is at most 2 u times the sum
constexpr double kTile = 16;
constexpr std::size_t kBlock = 16;
constexpr std::size_t kLanes = 8;

using textbook::Values;

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

RowError::RowError(const textbook::Head& head, const EqualKeys& equal, const Arithmetic& arithmetic)
    : head_(head),
      equal_(equal),
      arithmetic_(arithmetic),
      u_(unit_roundoff(arithmetic.accumulate)),
      u_w_(std::max(u_, unit_roundoff(arithmetic.weights))) {
  const auto T_k = static_cast<std::size_t>(head.T_k), d_v = static_cast<std::size_t>(head.d_v);
  for (auto* of_keys : {&s_, &squares_, &partial_, &w_, &e_, &rest_}) of_keys->resize(T_k);
  for (auto* of_columns :
       {&o_, &error_, &a_, &q_, &spread_, &linear_, &variance_, &weight_variance_, &shared_scale_,
        &prefix_, &largest_prefix_, &sum_, &last_, &differences_, &smallest_})
    of_columns->resize(d_v);
  lanes_.resize(kLanes * d_v);
}

void RowError::compute(const double* q_t) {
  scores(q_t);
  m_ = textbook::softmax(s_, w_);
  textbook::weighted_sum(w_, head_.v, o_);
  score_errors();
  sizes();
  errors_of_sum();
  sums_over_keys();
  const double spread = key_spread(q_t);
  for (std::size_t d = 0; d < o_.size(); ++d) error_[d] = error(d, spread);
}

/// Scores, the squares of their products, and of their partial sums.
void RowError::scores(const double* q_t) {
  for (auto* of_keys : {&s_, &squares_, &partial_})
    std::fill(of_keys->begin(), of_keys->end(), 0.0);
  const double* k_ij = head_.k_transposed.data();
  for (Index i = 0; i < head_.d_k; ++i, k_ij += s_.size()) {
    const double q_ti = head_.scale * q_t[i];
    double *s = s_.data(), *squares = squares_.data(), *partial = partial_.data();
    for (std::size_t j = 0; j < s_.size(); ++j) {
      const double product = q_ti * k_ij[j];
      s[j] += product;
      squares[j] += product * product;
      partial[j] += s[j] * s[j];
    }
  }
}

/// Part 1 for each key, and the count of part 2.
void RowError::score_errors() {
  double common = 0;
  const double half_d_k = static_cast<double>(head_.d_k) / 2;
  for (std::size_t j = 0; j < w_.size(); ++j) {
    e_[j] = w_[j] == 0 ? 0
                       : std::sqrt(half_d_k * (square(s_[j]) + squares_[j]) + partial_[j] +
                                   3 * squares_[j] + 2 * square(s_[j]) + 2 * square(s_[j] - m_) +
                                   square(kExp));
    common += w_[j] * std::expm1(kSafety * u_ * e_[j]);
  }
  common = std::log1p(common);
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const double x = kSafety * u_ * e_[j] + common;
    rest_[j] = (x < 0x1p-10 ? x * x : std::expm1(x) - x) / u_;
  }
  new_maxima_ = count_new_maxima(s_.begin(), s_.end()) + count_new_maxima(s_.rbegin(), s_.rend()) +
                static_cast<double>(head_.T_k) / kTile;
}

void RowError::sizes() {
  for (auto* of_columns : {&a_, &q_, &spread_})
    std::fill(of_columns->begin(), of_columns->end(), 0.0);
  const double* v_j = head_.v.data();
  for (double w_j : w_) {
    double *a = a_.data(), *q = q_.data(), *spread = spread_.data(), *o = o_.data();
    for (std::size_t d = 0; d < o_.size(); ++d) {
      const double term = w_j * v_j[d], deviation = v_j[d] - o[d];
      a[d] += std::fabs(term);
      q[d] += term * term;
      spread[d] += w_j * deviation * deviation;
    }
    v_j += o_.size();
  }
}

/// sum_i q_i^2 var_w(k_i) / d_k
double RowError::key_spread(const double* q_t) const {
  double spread = 0;
  const double* k_i = head_.k_transposed.data();
  for (Index i = 0; i < head_.d_k; ++i, k_i += head_.T_k)
    spread += square(head_.scale * q_t[i]) * textbook::variance(w_, k_i);
  return spread;
}

/// What the sum of the exponentials is off by, relatively.
void RowError::errors_of_sum() {
  const double largest = *std::ranges::max_element(w_);
  // The largest exponential is on the grid if an ulp of the sum is no more than it.
  const double from_grid = 2 * u_ <= largest ? largest / u_ : HUGE_VAL;
  sum_bias_ = 0;
  sum_variance_ = new_maxima_ + 3;
  for (std::size_t first = 0; first < w_.size(); first += kBlock) {
    const std::size_t last = std::min(first + kBlock, w_.size());
    double differences = 0, smallest = 0, count = 0;
    for (std::size_t j = first; j < last; ++j) {
      sum_variance_ += equal_.keys[j];
      if (j == 0) continue;
      ++count;
      differences += std::fabs(w_[j] - w_[j - 1]);
      smallest += std::min({1.0, w_[j] / u_, from_grid + kExp * w_[j] - w_[j] / u_});
    }
    if (!(differences > count * kResolved * 2 * u_)) sum_bias_ += smallest;
  }
}

/// Part 3 of the sums of w_j v_jd, the prefixes of part 2, and parts 1 and 4.
void RowError::sums_over_keys() {
  for (auto* of_columns : {&linear_, &variance_, &weight_variance_, &shared_scale_, &prefix_,
                           &largest_prefix_, &sum_, &lanes_, &last_, &differences_, &smallest_})
    std::fill(of_columns->begin(), of_columns->end(), 0.0);
  const std::size_t d_v = o_.size();
  double steps = 0, most_equal = 0, block = 0;
  bool first = true;
  for (std::size_t j = 0; j < w_.size(); ++j) {
    const double w_j = w_[j], equal = equal_.pairs[j];
    steps += equal;
    most_equal = std::max(most_equal, equal);
    if (w_j != 0) {  // its score may be -inf
      const double from_m = s_[j] - m_, e_j = e_[j], rest_j = rest_[j];
      const double *v = head_.v.data() + j * d_v, *o = o_.data(), *a = a_.data();
      double *prefix = prefix_.data(), *largest_prefix = largest_prefix_.data(), *sum = sum_.data(),
             *lane = lanes_.data() + j % kLanes * d_v, *variance = variance_.data(),
             *shared = shared_scale_.data(), *linear = linear_.data(), *last = last_.data(),
             *differences = differences_.data(), *smallest = smallest_.data();
      for (std::size_t d = 0; d < d_v; ++d) {
        const double term = w_j * v[d], deviation = w_j * (v[d] - o[d]);
        prefix[d] += deviation;
        largest_prefix[d] = std::max(largest_prefix[d], std::fabs(prefix[d]));
        sum[d] += term;
        lane[d] += term;
        variance[d] +=
            equal * (sum[d] * sum[d] + lane[d] * lane[d]) + (e_j * deviation) * (e_j * deviation);
        shared[d] += deviation * from_m;
        linear[d] += rest_j * std::fabs(deviation);
        differences[d] += std::fabs(term - last[d]);
        smallest[d] += std::min(std::fabs(term) / u_, a[d]);
        last[d] = term;
      }
      if (first) {  // there is nothing before it
        std::fill(differences_.begin(), differences_.end(), 0.0);
        std::fill(smallest_.begin(), smallest_.end(), 0.0);
      } else {
        ++block;
      }
      first = false;
    }
    if (j % kBlock == kBlock - 1 || j + 1 == w_.size()) {
      for (std::size_t d = 0; d < d_v; ++d)
        if (!(differences_[d] > block * kResolved * 2 * u_ * a_[d])) linear_[d] += smallest_[d];
      std::fill(differences_.begin(), differences_.end(), 0.0);
      std::fill(smallest_.begin(), smallest_.end(), 0.0);
      block = 0;
    }
  }
  for (std::size_t d = 0; d < d_v; ++d)
    variance_[d] += (steps / 2 + 3 * most_equal) * (square(o_[d]) + q_[d]);
  groups_.find(s_, w_, 0);
  groups_.add_squares(variance_, [&](std::size_t j, std::size_t d) {
    return e_[j] * w_[j] * (head_.v[j * d_v + d] - o_[d]);
  });
  if (u_w_ == u_) return;
  const auto stored = [&](std::size_t j, std::size_t d) {
    const double v_jd = head_.v[j * d_v + d];
    return w_[j] * std::copysign(std::max(std::fabs(v_jd), std::fabs(v_jd - o_[d])), v_jd);
  };
  for (std::size_t j = 0; j < w_.size(); ++j)
    for (std::size_t d = 0; d < d_v; ++d) weight_variance_[d] += square(stored(j, d));
  groups_.find(s_, w_, 2 * u_w_);
  groups_.add_squares(weight_variance_, stored);
}

double RowError::error(std::size_t d, double spread) const {
  const double rho = u_ * (kSafety * std::sqrt(sum_variance_) + sum_bias_);
  const double underflow =
      smallest_subnormal(arithmetic_.weights) / 2 * head_.column_sizes[d] +
      smallest_subnormal(arithmetic_.accumulate) / 2 * static_cast<double>(head_.T_k + 1);
  const double linear =
      linear_[d] + kScaleError * std::fabs(shared_scale_[d]) + sum_bias_ * std::fabs(o_[d]);
  const double variance =
      variance_[d] + 2 * spread * spread_[d] + sum_variance_ * square(o_[d]) +
      new_maxima_ * ((square(kExp) + 3) * square(largest_prefix_[d]) + 2 * square(o_[d]));
  const double statistical =
      kSafety * std::sqrt(square(u_) * variance + square(u_w_) * weight_variance_[d]);
  const double all = (u_ * linear + statistical + underflow) / (1 - rho);
  return rho < 1 && all < HUGE_VAL ? all : HUGE_VAL;
}

}  // namespace sdpa
