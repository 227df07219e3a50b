#include "attention/infinite_scores.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

double dot_class(const Head& head, Index t, Index j) {
  double sum = 0;
  for (Index i = 0; i < head.n.d_k; ++i) {
    const double x = head.q.at(t, i), y = head.k.at(j, i);
    if (!std::isfinite(x) || !std::isfinite(y)) sum += x * y;
  }
  return sum == 0 ? 0 : sum * head.q_sign;
}

std::pair<Array, Array> capped_operands(const Head& head, Index t, std::span<const Index> keys) {
  constexpr double kBeyondCaps = 0x1p100;
  const Index d_k = head.n.d_k, width = d_k + 1;
  Array q(Shape({1, width}), Dtype::float64), k(Shape({std::ssize(keys), width}), Dtype::float64);
  auto* q_t = reinterpret_cast<double*>(q.mutable_data());
  auto* k_j = reinterpret_cast<double*>(k.mutable_data());
  if (head.q.rows_finite(t, 1)) head.q.read_rows(t, 1, q_t);
  q_t[d_k] = kBeyondCaps;
  for (const Index j : keys) {
    const double dot = dot_class(head, t, j);
    if (dot == 0) head.k.read_rows(j, 1, k_j);
    k_j[d_k] = dot == 0 ? 0 : std::copysign(1, dot * head.q_sign);
    k_j += width;
  }
  return {q, k};
}

}  // namespace sdpa
