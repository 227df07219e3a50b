#include "stage/head.h"

#include <cmath>
#include <cstring>

namespace sdpa {

Array gather_rows(const MatrixView& matrix, std::span<const Index> rows) {
  Array result(Shape({std::ssize(rows), matrix.columns()}), matrix.dtype());
  const Index row_bytes = matrix.columns() * size_bytes(matrix.dtype());
  std::byte* to = result.mutable_data();
  for (Index row : rows) {
    std::memcpy(to, matrix.row(row), static_cast<std::size_t>(row_bytes));
    to += row_bytes;
  }
  return result;
}

Head with_keys(const Head& head, std::span<const Index> keys) {
  Head some = head;
  some.k = gather_rows(head.k, keys);
  some.v = gather_rows(head.v, keys);
  some.n.T_k = std::ssize(keys);
  return some;
}

Head with_visible(const Head& head, const Visible& visible) {
  Head other = head;
  other.visible = visible;
  return other;
}

Head make_head(const MatrixView& q, const MatrixView& k, const MatrixView& v) {
  Head head{};
  head.q = q;
  head.k = k;
  head.v = v;
  head.n = {q.rows(), k.rows(), q.columns(), v.columns()};
  set_scale(head, {1, head.n.d_k});
  return head;
}

Head head_like(const Head& like, const MatrixView& q, const MatrixView& k, const MatrixView& v) {
  Head head = like;
  head.q = q;
  head.k = k;
  head.v = v;
  head.n = {q.rows(), k.rows(), q.columns(), v.columns()};
  head.visible = {};
  return head;
}

void set_scale(Head& head, const ScoreScale& scale) {
  head.scale = scale.factor == 0 ? ScoreScale{} : ScoreScale{std::fabs(scale.factor), scale.root};
  head.q_sign = scale.factor == 0 ? 0 : scale.factor < 0 ? -1 : 1;

  // One Newton step: 1/sqrt(d) = y + y r / 2 + 3 y r^2 / 8 + ..., where the residual r = 1 - d y^2
  // is had by splitting y^2 exactly. u is 2^-53. A root with the mantissa s is off by at most u /
  // s, and 1 over it by u s / 2, so y by 1.5u and |r| is at most 3u.
  //
  // In units of u^2 of the result: the terms left out are below 3.4, and rounding costs 1.3 for r
  // and 1.5 for y r / 2. To multiply by the factor costs 2.5, the low part then being at most 2.5u.
  // Made the sum of a double and what is left of it, at most u, that times log2(e) costs below 1.5 +
  // 1.7 + 2.7 for `low`: together, log2(e) being had to 0.1, below 15, and 2^-102 is 16.
  const auto d = static_cast<double>(head.scale.root);
  const double y = 1 / std::sqrt(d);
  const double square = y * y;
  const double square_low = std::fma(y, y, -square);
  const double residual = std::fma(-d, square, 1.0) - d * square_low;
  double c = y, c_low = y * residual / 2;
  if (const double factor = head.scale.factor; factor != 1) {
    const double product = y * factor;
    const double low = std::fma(c_low, factor, std::fma(y, factor, -product));
    c = product + low;
    c_low = low - (c - product);
  }

  // log2(e)
  constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;
  const double product = c * kHigh;
  const double low = std::fma(c, kHigh, -product) + std::fma(c, kLow, c_low * kHigh);
  head.scale_high = product + low;
  head.scale_low = low - (head.scale_high - product);
  head.score_scale_high = c;
  head.score_scale_low = c_low;
}

bool have_same_keys(const Head& a, const Head& b) {
  return a.k.row(0) == b.k.row(0) && a.v.row(0) == b.v.row(0) && a.n.T_k == b.n.T_k;
}

}  // namespace sdpa
