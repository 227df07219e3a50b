#pragma once

#include "attention/attention.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa::oracle {

/// The correctly rounded attention of one head, computed with MPFR and nothing of the product but
/// Array: output (T_q, d_v) and weights (T_q, T_k), both of type `dtype`.
///
/// q, k, v   as for sdpa::attention; every value finite
Attention exact_attention(const Array& q, const Array& k, const Array& v, Dtype dtype);

/// The keys that one query sees, ascending, and what is added to the scaled score of each.
struct Seen {
  std::vector<Index> keys;
  std::vector<double> biases;  ///< as many as keys
};

/// What becomes of dot products: factor q_t k_j / sqrt(root), capped by C tanh(s/C), and a sink.
struct Scoring {
  double factor = 1;
  Index root = 0;                 ///< 0: d_k
  std::optional<double> softcap;  ///< C
  std::optional<double> sink;     ///< a key with this score and the value 0
};

/// The same where query t sees rows[t]: a row without keys is zeros, and so are weights of keys that
/// are not seen. With a softcap it throws std::runtime_error where 20,000 bits do not decide.
Attention exact_attention(const Array& q, const Array& k, const Array& v, Dtype dtype,
                          std::span<const Seen> rows, const Scoring& scoring = {});

}  // namespace sdpa::oracle
