#pragma once

#include "attention/problem.h"

#include <vector>

namespace sdpa {

/// What the error bounds need to know of k (T_k, d_k) and v (T_k, d_v).
struct Norms {
  double k;      ///< at least the Euclidean norm of every row of k
  double k_all;  ///< at least the Euclidean norm of the matrix
  /// [d_k] at least the norm of every row's part from the start of i's chain
  /// (kernel::kFeatureChain) to i.
  std::vector<double> k_chains;
  /// [chains] at least the norm of every row's part from its start to the end of a chain.
  std::vector<double> k_prefixes;
  std::vector<double> v_largest;  ///< [d_v] largest absolute value of each column of v
  std::vector<double> v;          ///< [d_v] at least the Euclidean norm of each column of v
};

/// The norms of k and v, for up to 2^34 keys. One that float64 cannot hold is infinite; a NaN or an
/// infinity in k or v makes k_all or a norm of v infinite or NaN.
Norms measure_norms(const Array& k, const Array& v, int threads);

/// What the error bounds need to know of a row of q.
struct QueryNorms {
  double norm;  ///< at least the Euclidean norm
  /// At least the sum of the absolute values of all that is ever rounded in a dot product with a
  /// row of k: the partial sums of each chain, and of the chains.
  double partial_sums;
};
QueryNorms query_norms(const Norms& norms, const double* q_t);

}  // namespace sdpa
