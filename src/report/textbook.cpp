#include "report/textbook.h"

#include <algorithm>
#include <cmath>

namespace sdpa::textbook {

Values values_of(const MatrixView& matrix) {
  Values all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  matrix.read_rows(0, matrix.rows(), all.data());
  return all;
}

Values transposed(const MatrixView& matrix) {
  Values all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  for (Index i = 0; i < matrix.columns(); ++i)
    matrix.read_column(i, all.data() + i * matrix.rows());
  return all;
}

Head::Head(const MatrixView& k, const MatrixView& v_matrix)
    : T_k(k.rows()),
      d_k(k.columns()),
      d_v(v_matrix.columns()),
      scale(1 / std::sqrt(static_cast<double>(d_k))),
      k_transposed(transposed(k)),
      v(values_of(v_matrix)),
      column_sizes(static_cast<std::size_t>(d_v)) {
  for (std::size_t at = 0; at < v.size(); ++at)
    column_sizes[at % column_sizes.size()] += std::fabs(v[at]);
}

void scores(const double* q_t, const Values& k_transposed, double scale, Values& s) {
  const std::size_t T_k = s.size();
  std::fill(s.begin(), s.end(), 0.0);
  for (std::size_t at = 0; at < k_transposed.size(); at += T_k, ++q_t)
    for (std::size_t j = 0; j < T_k; ++j) s[j] += *q_t * k_transposed[at + j];
  for (double& s_j : s) s_j *= scale;
}

double softmax(const Values& s, Values& w) {
  double largest = s[0];
  for (double s_j : s)
    if (!(s_j <= largest)) largest = s_j;
  w.resize(s.size());
  double sum = 0;
  for (std::size_t j = 0; j < s.size(); ++j) sum += w[j] = std::exp(s[j] - largest);
  for (double& w_j : w) w_j /= sum;
  return largest;
}

void weighted_sum(const Values& w, const Values& v, Values& o_t) {
  std::fill(o_t.begin(), o_t.end(), 0.0);
  const double* v_j = v.data();
  for (double w_j : w)
    for (double& o_td : o_t) o_td += w_j * *v_j++;
}

double variance(const Values& w, const double* x) {
  constexpr std::size_t kLanes = 8;  // sums side by side
  double mean[kLanes] = {}, mean_square[kLanes] = {};
  const auto add = [&](std::size_t lane, std::size_t j) {
    const double from_first = x[j] - x[0];
    mean[lane] += w[j] * from_first;
    mean_square[lane] += w[j] * from_first * from_first;
  };
  std::size_t j = 0;
  for (; j + kLanes <= w.size(); j += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, j + lane);
  for (; j < w.size(); ++j) add(0, j);
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    mean[0] += mean[lane];
    mean_square[0] += mean_square[lane];
  }
  return std::max(0.0, mean_square[0] - mean[0] * mean[0]);
}

}  // namespace sdpa::textbook
