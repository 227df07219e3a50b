#include "report/textbook.h"

#include <algorithm>
#include <cmath>

namespace sdpa::textbook {

Values values_of(const Array& array) {
  Values all(static_cast<std::size_t>(array.shape().element_count()));
  read_elements(array, 0, array.shape().element_count(), all.data());
  return all;
}

Values transposed(const Array& matrix) {
  Values all(static_cast<std::size_t>(matrix.shape().element_count()));
  const Index rows = matrix.shape()[0], columns = matrix.shape()[1];
  for (Index i = 0; i < columns; ++i) read_elements(matrix, i, columns, rows, all.data() + i * rows);
  return all;
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

}  // namespace sdpa::textbook
