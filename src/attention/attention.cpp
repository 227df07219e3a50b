#include "attention/attention.h"

#include "attention/problem.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sdpa {

namespace {

/// s[j] = scale * sum_i q_t[i] * k[j][i]
void scores(const double* q_t, const double* k, const Extents& n, double* s) {
  for (Index j = 0; j < n.T_k; ++j) {
    double dot = 0;
    for (Index i = 0; i < n.d_k; ++i) dot += q_t[i] * k[j * n.d_k + i];
    s[j] = dot / std::sqrt(static_cast<double>(n.d_k));
  }
}

/// w[j] = exp(s[j] - max s) / sum, in place.
void softmax(double* s, const Extents& n) {
  double largest = s[0];
  for (Index j = 1; j < n.T_k; ++j)
    if (!(s[j] <= largest)) largest = s[j];
  double sum = 0;
  for (Index j = 0; j < n.T_k; ++j) sum += s[j] = std::exp(s[j] - largest);
  for (Index j = 0; j < n.T_k; ++j) s[j] /= sum;
}

/// o_t[d] = sum_j w[j] * v[j][d]
void weighted_sum(const double* w, const double* v, const Extents& n, double* o_t) {
  for (Index d = 0; d < n.d_v; ++d) o_t[d] = 0;
  for (Index j = 0; j < n.T_k; ++j)
    for (Index d = 0; d < n.d_v; ++d) o_t[d] += w[j] * v[j * n.d_v + d];
}

std::vector<double> as_double(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.shape().element_count()));
  read_elements(array, 0, array.shape().element_count(), values.data());
  return values;
}

}  // namespace

Attention attention(const Array& q, const Array& k, const Array& v, const Settings& settings) {
  const Extents n = check_shapes(q, k, v);
  const Dtype dtype =
      settings.dtype.value_or(result_type(result_type(q.dtype(), k.dtype()), v.dtype()));
  const std::vector<double> q_values = as_double(q), k_values = as_double(k),
                            v_values = as_double(v);

  Attention result{Array(Shape({n.T_q, n.d_v}), dtype), std::nullopt};
  if (settings.weights) result.weights = Array(Shape({n.T_q, n.T_k}), dtype);
  std::vector<double> w(static_cast<std::size_t>(n.T_k)), o_t(static_cast<std::size_t>(n.d_v));
  for (Index t = 0; t < n.T_q; ++t) {
    scores(q_values.data() + t * n.d_k, k_values.data(), n, w.data());
    softmax(w.data(), n);
    weighted_sum(w.data(), v_values.data(), n, o_t.data());
    store_rounded(o_t.data(), n.d_v, dtype,
                  result.output.mutable_data() + t * n.d_v * size_bytes(dtype));
    if (result.weights)
      store_rounded(w.data(), n.T_k, dtype,
                    result.weights->mutable_data() + t * n.T_k * size_bytes(dtype));
  }
  return result;
}

}  // namespace sdpa
