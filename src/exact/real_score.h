#pragma once

#include "stage/head.h"

#include <mpfr.h>

namespace sdpa {

/// One score as a real number, c q_t k_j + b, capped if the head has a cap, rounded once to the float type `dtype`; a zero is +0.
///
/// q_t    [d_k]  as Head::read_query gives it
/// k_j    [d_k]
/// bias   b, 0 if there is none
///
/// Operands are finite.
double round_score(const Head& head, const double* q_t, const double* k_j, double bias,
                   Dtype dtype);

}  // namespace sdpa
