#pragma once

#include "report/arithmetic.h"
#include "report/equal_keys.h"
#include "report/textbook.h"

namespace sdpa {

/// The scores of one query, and how far a kernel may be from them and from the exponentials; see
/// row_error.cpp for the derivation. Errors are in units of the unit roundoff u of the sums.
struct ScoreErrors {
  double largest = 0;       ///< m, of the scores
  double new_maxima = 0;    ///< how often a running maximum is replaced
  double sum_bias = 0;      ///< of the sum of the exponentials, relative to it
  double sum_variance = 0;  ///< the same

  // [T_k]
  textbook::Values s;        ///< scores
  textbook::Values w;        ///< weights
  textbook::Values e;        ///< error of the logarithm of a weight
  textbook::Values rest;     ///< what the first order of its exponential leaves out
  textbook::Values stored;   ///< the scores as they are stored, if in a type of their own
  textbook::Values storing;  ///< the error of that

  /// Computes all for the query q_t [d_k] with this bias, [T_k] or empty.
  void compute(const textbook::Keys& keys, const EqualKeys& equal, const double* q_t,
               const textbook::Values& bias, const Arithmetic& arithmetic);

 private:
  void compute_scores(const textbook::Keys& keys, const double* q_t, const textbook::Values& bias);
  void compute_errors(const textbook::Keys& keys, const textbook::Values& bias,
                      const Arithmetic& arithmetic);
  void errors_of_sum(const EqualKeys& equal, double u);

  textbook::Values products_;  // scaled products, before anything is added
  textbook::Values squares_;   // sum of squared products of a score
  textbook::Values partial_;   // sum of squared partial sums of a score
};

}  // namespace sdpa
