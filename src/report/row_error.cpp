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
//      with a cap C, z = C tanh(s/C): all before and s^2 for the division times the square of the
//                       slope 1 - (z/C)^2, and (kExp^2 + 1) z^2 for a tanh within two ulp and C
//      s_j^2 + 2 b_j^2  of s_j with its bias b_j: adding it, b_j in this type, and its log2(e)
//      (u_p / u)^2 times the sum of the squares of the products, if the kernel rounds the factors
//                       of products to a type of roundoff u_p
//      (u_s / u)^2 2 s_j^2, and s_j^2 + b_j^2 with a bias, if scores are stored in a type of
//                       roundoff u_s: the product, its scaled value, and the sum
//    Keys of equal score may have equal errors: for them the square of the sum joins the sum of
//    squares. So it is with keys whose scores are stored as one number. Shared by all keys are
//      * two roundings of q, as it is read and when it is scaled, for each feature i:
//        sum_i delta_i q_i cov_w(k_i, v_d) / sqrt(d_k), where cov^2 <= var_w(k_i) var_w(v_d);
//      * the rounding of q to the type of factors, u_p in place of u;
//      * the constants 1/sqrt(d_k) (within one ulp, for hardware that approximates it) and log2(e):
//        kScaleError |sum_j w_j s_j (v_jd - o_d)|, without a square root; and u_p / u more, because
//        factors that are cut are smaller in the mean.
//    Exponentials of a declared relative error eps are off by that where they are: eps
//    sum_j w_j |v_jd - o_d| is added without a square root.
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
//    Factors of products have u_w at least u_p. That v is rounded, too, is another (w_j v_jd)^2, and
//    that all may be cut, u_p |o_d| without a square root.
// 5. Products of errors: as in gamma_n, everything is divided by 1 - rho, rho the error of the sum
//    of exponentials.

#include "report/row_error.h"

#include "array/float_format.h"
#include "report/error_model.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

constexpr std::size_t kLanes = 8;

using namespace error_model;

}  // namespace

RowError::RowError(const Arithmetic& arithmetic)
    : arithmetic_(arithmetic),
      u_(unit_roundoff(arithmetic.sums)),
      u_w_(std::max({u_, unit_roundoff(arithmetic.weights), arithmetic.product_error()})) {}

void RowError::compute(const textbook::Keys& keys, const EqualKeys& equal, const double* q_t,
                       const Values& bias) {
  of_scores_.compute(keys, equal, q_t, bias, arithmetic_);
  const auto d_v = static_cast<std::size_t>(keys.d_v);
  for (auto* of_columns : {&o_, &error_}) of_columns->resize(d_v);
  textbook::weighted_sum(of_scores_.w, keys.v, o_);
  sizes(keys);
  sums_over_keys(keys, equal);
  const double spread = key_spread(keys, q_t);
  for (std::size_t d = 0; d < d_v; ++d) error_[d] = error(keys, d, spread);
}

void RowError::sizes(const textbook::Keys& keys) {
  for (auto* of_columns : {&a_, &q_, &spread_}) of_columns->assign(o_.size(), 0.0);
  const double* v_j = keys.v.data();
  for (double w_j : weights()) {
    double* __restrict a = a_.data(), * __restrict q = q_.data(), * __restrict spread = spread_.data(), * __restrict o = o_.data();
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
double RowError::key_spread(const textbook::Keys& keys, const double* q_t) const {
  double spread = 0;
  const double* k_i = keys.k_transposed.data();
  for (Index i = 0; i < keys.d_k; ++i, k_i += keys.T_k)
    spread += square(keys.scale * q_t[i]) * textbook::variance(weights(), k_i);
  return spread;
}

/// Part 3 of the sums of w_j v_jd, the prefixes of part 2, and parts 1 and 4.
void RowError::sums_over_keys(const textbook::Keys& keys, const EqualKeys& equal_keys) {
  const Values &w = of_scores_.w, &e = of_scores_.e, &s = of_scores_.s;
  for (auto* of_columns : {&linear_, &variance_, &weight_variance_, &shared_scale_, &prefix_,
                           &largest_prefix_, &sum_, &last_, &differences_, &smallest_})
    of_columns->assign(o_.size(), 0.0);
  lanes_.assign(kLanes * o_.size(), 0.0);
  const double of_exp = arithmetic_.exp / u_;
  const std::size_t d_v = o_.size();
  double steps = 0, most_equal = 0, block = 0;
  bool first = true;
  for (std::size_t j = 0; j < w.size(); ++j) {
    const double w_j = w[j], equal = equal_keys.pairs[j];
    steps += equal;
    most_equal = std::max(most_equal, equal);
    if (w_j != 0) {  // its score may be -inf
      const double from_m = s[j] - of_scores_.largest, e_j = e[j],
                   rest_j = of_scores_.rest[j] + of_exp;
      const double* __restrict v = keys.v.data() + j * d_v;
      const double* __restrict o = o_.data(), * __restrict a = a_.data();
      double *__restrict prefix = prefix_.data(), *__restrict largest_prefix = largest_prefix_.data(), *__restrict sum = sum_.data(),
             *__restrict lane = lanes_.data() + j % kLanes * d_v, *__restrict variance = variance_.data(),
             *__restrict shared = shared_scale_.data(), *__restrict linear = linear_.data(), *__restrict last = last_.data(),
             *__restrict differences = differences_.data(), *__restrict smallest = smallest_.data();
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
    if (j % kBlock == kBlock - 1 || j + 1 == w.size()) {
      for (std::size_t d = 0; d < d_v; ++d)
        if (!(differences_[d] > block * kResolved * 2 * u_ * a_[d])) linear_[d] += smallest_[d];
      std::fill(differences_.begin(), differences_.end(), 0.0);
      std::fill(smallest_.begin(), smallest_.end(), 0.0);
      block = 0;
    }
  }
  for (std::size_t d = 0; d < d_v; ++d)
    variance_[d] += (steps / 2 + 3 * most_equal) * (square(o_[d]) + q_[d]);
  groups_.find(s, w, 0);
  groups_.add_squares(variance_, [&](std::size_t j, std::size_t d) {
    return e[j] * w[j] * (keys.v[j * d_v + d] - o_[d]);
  });
  if (arithmetic_.scores) {
    groups_.find(of_scores_.stored, w, 0);
    groups_.add_squares(variance_, [&](std::size_t j, std::size_t d) {
      return of_scores_.storing[j] * w[j] * (keys.v[j * d_v + d] - o_[d]);
    });
  }
  if (u_w_ == u_) return;
  const auto stored = [&](std::size_t j, std::size_t d) {
    const double v_jd = keys.v[j * d_v + d];
    return w[j] * std::copysign(std::max(std::fabs(v_jd), std::fabs(v_jd - o_[d])), v_jd);
  };
  for (std::size_t j = 0; j < w.size(); ++j)
    for (std::size_t d = 0; d < d_v; ++d) weight_variance_[d] += square(stored(j, d));
  groups_.find(s, w, 2 * u_w_);
  groups_.add_squares(weight_variance_, stored);
}

double RowError::error(const textbook::Keys& keys, std::size_t d, double spread) const {
  const double of_product = arithmetic_.product_error() / u_;
  const double of_exp = std::max(kExp, arithmetic_.exp / u_);
  const double rho = u_ * (kSafety * std::sqrt(of_scores_.sum_variance) + of_scores_.sum_bias);
  const double of_short_products =
      arithmetic_.products == Products::float16 ? smallest_subnormal(Dtype::float16) / 2 : 0;
  const double underflow =
      of_short_products * (keys.column_sizes[d] + 1) +
      smallest_subnormal(arithmetic_.weights) / 2 * keys.column_sizes[d] +
      smallest_subnormal(arithmetic_.sums) / 2 * static_cast<double>(keys.T_k + 1);
  const double linear = linear_[d] + (kScaleError + of_product) * std::fabs(shared_scale_[d]) +
                        (of_scores_.sum_bias + of_product) * std::fabs(o_[d]);
  const double variance =
      variance_[d] + (2 + square(of_product)) * spread * spread_[d] + square(of_product) * q_[d] +
      of_scores_.sum_variance * square(o_[d]) +
      of_scores_.new_maxima *
          ((square(of_exp) + 3) * square(largest_prefix_[d]) + 2 * square(o_[d]));
  const double statistical =
      kSafety * std::sqrt(square(u_) * variance + square(u_w_) * weight_variance_[d]);
  const double all = (u_ * linear + statistical + underflow) / (1 - rho);
  return rho < 1 && all < HUGE_VAL ? all : HUGE_VAL;
}

}  // namespace sdpa
