#include "report/score_error.h"

#include "report/error_model.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

using namespace error_model;

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

void ScoreErrors::compute(const textbook::Keys& keys, const EqualKeys& equal, const double* q_t,
                          const textbook::Values& bias, const Arithmetic& arithmetic) {
  const double u = unit_roundoff(arithmetic.sums);
  compute_scores(keys, q_t, bias);
  largest = textbook::softmax(s, w);
  compute_errors(keys, bias, arithmetic);
  new_maxima = count_new_maxima(s.begin(), s.end()) + count_new_maxima(s.rbegin(), s.rend()) +
               static_cast<double>(keys.T_k) / kTile;
  errors_of_sum(equal, u);
}

/// Scores, the squares of their products, and of their partial sums.
void ScoreErrors::compute_scores(const textbook::Keys& keys, const double* q_t,
                                 const textbook::Values& bias) {
  const auto T_k = static_cast<std::size_t>(keys.T_k);
  for (auto* of_keys : {&products_, &squares_, &partial_}) of_keys->assign(T_k, 0.0);
  const double* k_ij = keys.k_transposed.data();
  for (Index i = 0; i < keys.d_k; ++i, k_ij += T_k) {
    const double q_ti = keys.scale * q_t[i];
    double *s_j = products_.data(), *squares = squares_.data(), *partial = partial_.data();
    for (std::size_t j = 0; j < T_k; ++j) {
      const double product = q_ti * k_ij[j];
      s_j[j] += product;
      squares[j] += product * product;
      partial[j] += s_j[j] * s_j[j];
    }
  }
  s = products_;
  if (keys.softcap < HUGE_VAL)
    for (double& s_j : s) s_j = textbook::capped(s_j, keys.softcap);
  for (std::size_t j = 0; j < bias.size(); ++j) s[j] += bias[j];
}

/// Part 1 for each key.
void ScoreErrors::compute_errors(const textbook::Keys& keys, const textbook::Values& bias,
                                 const Arithmetic& arithmetic) {
  const double u = unit_roundoff(arithmetic.sums);
  const double of_product = square(arithmetic.product_error() / u);
  const double of_storing = arithmetic.scores ? square(unit_roundoff(*arithmetic.scores) / u) : 0;
  const double half_d_k = static_cast<double>(keys.d_k) / 2;
  const double softcap = keys.softcap;
  const double of_tanh = square(std::max(kExp, arithmetic.exp / u)) + 1;
  const auto T_k = w.size();
  e.resize(T_k);
  rest.resize(T_k);
  stored.clear();
  storing.clear();
  double common = 0;
  for (std::size_t j = 0; j < T_k; ++j) {
    double storing_j = 0;
    if (w[j] == 0) {
      e[j] = 0;
    } else {
      double variance = half_d_k * (square(products_[j]) + squares_[j]) + partial_[j] +
                        (3 + of_product) * squares_[j] + 2 * square(products_[j]);
      storing_j = of_storing * 2 * square(products_[j]);
      if (softcap < HUGE_VAL) {
        const double z = textbook::capped(products_[j], softcap);
        const double slope = square(1 - square(z / softcap));  // squared
        variance = slope * (variance + square(products_[j])) + of_tanh * square(z);
        storing_j = slope * storing_j + of_storing * square(z);
      }
      variance += 2 * square(s[j] - largest) + square(kExp);
      if (!bias.empty()) {
        variance += square(s[j]) + 2 * square(bias[j]);
        storing_j += of_storing * (square(s[j]) + square(bias[j]));
      }
      e[j] = std::sqrt(variance + storing_j);
    }
    if (arithmetic.scores) {
      stored.push_back(rounded(s[j], *arithmetic.scores));
      storing.push_back(std::sqrt(storing_j));
    }
    common += w[j] * std::expm1(kSafety * u * e[j] + arithmetic.exp);
  }
  common = std::log1p(common);
  for (std::size_t j = 0; j < T_k; ++j) {
    const double x = kSafety * u * e[j] + arithmetic.exp + common;
    rest[j] = (x < 0x1p-10 ? x * x : std::expm1(x) - x) / u;
  }
}

/// What the sum of the exponentials is off by, relatively.
void ScoreErrors::errors_of_sum(const EqualKeys& equal, double u) {
  const double largest_weight = *std::ranges::max_element(w);
  // The largest exponential is on the grid if an ulp of the sum is no more than it.
  const double from_grid = 2 * u <= largest_weight ? largest_weight / u : HUGE_VAL;
  sum_bias = 0;
  sum_variance = new_maxima + 3;
  for (std::size_t first = 0; first < w.size(); first += kBlock) {
    const std::size_t last = std::min(first + kBlock, w.size());
    double differences = 0, smallest = 0, count = 0;
    for (std::size_t j = first; j < last; ++j) {
      sum_variance += equal.keys[j];
      if (j == 0) continue;
      ++count;
      differences += std::fabs(w[j] - w[j - 1]);
      smallest += std::min({1.0, w[j] / u, from_grid + kExp * w[j] - w[j] / u});
    }
    if (!(differences > count * kResolved * 2 * u)) sum_bias += smallest;
  }
}

}  // namespace sdpa
