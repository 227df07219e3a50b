#pragma once

#include "attention/problem.h"

#include <bit>
#include <vector>

namespace sdpa {

/// The operands of one head, all finite, and what the error bounds need to know of them.
struct Head {
  Array q, k, v;
  Extents n;
  double scale_high, scale_low;  ///< 1/sqrt(d_k), within 2^-105 of it, relatively
  double k_norm;                 ///< at least the Euclidean norm of every row of k
  /// [d_k] at least the norm of every row's part from the start of i's chain
  /// (kernel::kFeatureChain) to i.
  std::vector<double> k_chain_norms;
  /// [chains] at least the norm of every row's part from its start to the end of a chain.
  std::vector<double> k_prefix_norms;
  std::vector<double> v_largest;  ///< [d_v] largest absolute value of each column of v
  std::vector<double> v_norm;     ///< [d_v] at least the Euclidean norm of each column of v

  /// Whether 1/sqrt(d_k) is a power of two, so that scaling rounds nothing.
  bool scale_is_exact() const {
    return std::has_single_bit(static_cast<std::size_t>(n.d_k)) && scale_low == 0;
  }
};

/// Takes (T, d) arrays that check_shapes accepts. A norm that float64 cannot hold is infinite.
Head make_head(const Array& q, const Array& k, const Array& v);

/// What the error bounds need to know of a row of q.
struct QueryFacts {
  double norm;  ///< at least the Euclidean norm
  /// At least the sum of the absolute values of all that is ever rounded in a dot product with a
  /// row of k: the partial sums of each chain, and of the chains.
  double partial_sums;
};
QueryFacts query_facts(const Head& head, const double* q_t);

}  // namespace sdpa
