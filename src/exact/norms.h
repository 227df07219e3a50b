#pragma once

#include "array/view.h"
#include "stage/visible.h"

#include <span>

#include <vector>

namespace sdpa {

/// What the error bounds need to know of k (T_k, d_k) and v (T_k, d_v).
///
/// A dot product of q_t and k_j is summed in chains of kernel::kFeatureChain features, and the
/// chains one after another. Each partial sum is at most the product of the norms of the parts of
/// q_t and k_j that it stands for (Cauchy-Schwarz), and all of them together, by the same once
/// more, at most P(q_t) P(k_j): P(x) is the root of sum_i n_i x_i^2, where n_i counts the partial
/// sums that feature i takes part in.
struct Norms {
  double k;                          ///< at least the Euclidean norm of every row of k
  double k_partial;                  ///< at least P of every row of k
  double k_all;                      ///< at least the Euclidean norm of the matrix
  std::vector<double> partial_sums;  ///< [d_k] n_i
  std::vector<double> v_largest;     ///< [d_v] largest absolute value of each column of v
  std::vector<double> v;             ///< [d_v] at least the Euclidean norm of each column of v
  std::vector<double> v_partial;     ///< [d_v] the same with each row of v times P of that row of k
  /// [d_v] the same with each row of v times the number of sums that it takes part in (roundings)
  std::vector<double> v_roundings;
};

/// The norms of the rows of k and v in these runs, which are all that is read, for up to 2^27 features and 2^34 keys. One that float64 cannot hold is
/// infinite; a NaN or an infinity in k or v makes k_all or a norm of v infinite or NaN.
Norms measure_norms(const MatrixView& k, const MatrixView& v, std::span<const KeyRun> runs,
                    int threads);

/// Of all rows.
Norms measure_norms(const MatrixView& k, const MatrixView& v, int threads);

/// How many rounded operations of the weighted sum key j takes part in, at most: its product and
/// those that follow in its chain, chains of its block, blocks of its span, and the total of the
/// spans. Key 0 takes part in the most.
double roundings(Index j);

/// What the error bounds need to know of a row of q.
struct QueryNorms {
  double norm;     ///< at least the Euclidean norm
  double partial;  ///< at least P of the row
};
QueryNorms query_norms(const Norms& norms, const double* q_t);

}  // namespace sdpa
