#pragma once

#include "attention/problem.h"

#include <vector>

namespace sdpa {

/// The operands of one head, all finite, and what the error bounds need to know of them.
struct Head {
  Array q, k, v;
  Extents n;
  double scale_high, scale_low;   ///< 1/sqrt(d_k), within 2^-105 of it, relatively
  double k_norm;                  ///< at least the Euclidean norm of every row of k
  std::vector<double> v_largest;  ///< [d_v] largest absolute value of each column of v
  std::vector<double> v_norm;     ///< [d_v] at least the Euclidean norm of each column of v
};

/// Takes (T, d) arrays that check_shapes accepts. A norm that float64 cannot hold is infinite.
Head make_head(const Array& q, const Array& k, const Array& v);

/// At least the Euclidean norm of x [count].
double norm_bound(const double* x, Index count);

}  // namespace sdpa
