#pragma once

#include "attention/attention.h"

namespace sdpa::oracle {

/// The correctly rounded attention of one head, computed with MPFR and nothing of the product but
/// Array: output (T_q, d_v) and weights (T_q, T_k), both of type `dtype`.
///
/// q, k, v   as for sdpa::attention; every value finite
Attention exact_attention(const Array& q, const Array& k, const Array& v, Dtype dtype);

}  // namespace sdpa::oracle
