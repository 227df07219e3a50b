#include "attention/head.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// A sum of at most 2^22 squares is rounded by less than 2^-30 of itself (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 3.1: (1 + 2^-53)^n), and so is its root.
/// Squares that underflow lose at most 2^-1074 each.
constexpr double kAbove = 1 + 0x1p-30;
constexpr double kUnderflow = 0x1p-1040;

double root_bound(double sum_of_squares) {
  return std::sqrt(sum_of_squares + kUnderflow) * kAbove;
}

}  // namespace

double norm_bound(const double* x, Index count) {
  // Four chains, since one would wait for every addition.
  double sums[4] = {};
  Index i = 0;
  for (; i + 4 <= count; i += 4)
    for (Index chain = 0; chain < 4; ++chain) sums[chain] += x[i + chain] * x[i + chain];
  for (; i < count; ++i) sums[0] += x[i] * x[i];
  return root_bound((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

Head make_head(const Array& q, const Array& k, const Array& v) {
  Head head{q, k, v, check_shapes(q, k, v), 0, 0, 0, {}, {}};
  const Extents& n = head.n;

  // One Newton step: 1/sqrt(d) = y + y (1 - d y^2) / 2 + O(y e^2), where the residual 1 - d y^2 is
  // had to 2^-105 by splitting y^2 exactly and e is below 2^-51.
  const auto d = static_cast<double>(n.d_k);
  const double y = 1 / std::sqrt(d);
  const double square = y * y;
  const double square_low = std::fma(y, y, -square);
  const double residual = std::fma(-d, square, 1.0) - d * square_low;
  head.scale_high = y;
  head.scale_low = y * residual / 2;

  std::vector<double> row(static_cast<std::size_t>(std::max(n.d_k, n.d_v)));
  for (Index j = 0; j < n.T_k; ++j) {
    read_elements(k, j * n.d_k, n.d_k, row.data());
    const double norm = norm_bound(row.data(), n.d_k);
    if (!(norm <= head.k_norm)) head.k_norm = norm;
  }

  head.v_largest.assign(static_cast<std::size_t>(n.d_v), 0);
  head.v_norm.assign(static_cast<std::size_t>(n.d_v), 0);
  for (Index j = 0; j < n.T_k; ++j) {
    read_elements(v, j * n.d_v, n.d_v, row.data());
    for (std::size_t c = 0; c < head.v_norm.size(); ++c) {
      head.v_largest[c] = std::max(head.v_largest[c], std::fabs(row[c]));
      head.v_norm[c] += row[c] * row[c];
    }
  }
  for (double& norm : head.v_norm) norm = root_bound(norm);
  return head;
}

}  // namespace sdpa
