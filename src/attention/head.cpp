#include "attention/head.h"

#include <cmath>

namespace sdpa {

Head make_head(const Array& q, const Array& k, const Array& v) {
  Head head{q, k, v, check_shapes(q, k, v), 0, 0};

  // One Newton step: 1/sqrt(d) = y + y (1 - d y^2) / 2 + O(y e^2), where the residual 1 - d y^2 is
  // had to 2^-105 by splitting y^2 exactly and e is below 2^-51.
  const auto d = static_cast<double>(head.n.d_k);
  const double y = 1 / std::sqrt(d);
  const double square = y * y;
  const double square_low = std::fma(y, y, -square);
  const double residual = std::fma(-d, square, 1.0) - d * square_low;
  const double y_low = y * residual / 2;

  // Times log2(e) = kHigh + kLow, to 2^-107. The product's low part is rounded three times, the
  // last one of them at most 2^-53 of the high part.
  constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;
  const double product = y * kHigh;
  const double low = std::fma(y, kHigh, -product) + std::fma(y, kLow, y_low * kHigh);
  head.scale_high = product + low;
  head.scale_low = low - (head.scale_high - product);
  return head;
}

}  // namespace sdpa
