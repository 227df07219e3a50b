#pragma once

#include "attention/heads.h"
#include "report/arithmetic.h"
#include "report/judgement.h"

#include <functional>
#include <optional>
#include <vector>

namespace sdpa {

/// What the roundings of a kernel are, relatively, and the type that it stores.
struct Roundings {
  double sums = 0;      ///< of all operations
  double weights = 0;   ///< of weights in the second product
  double scores = 0;    ///< of scores when they are stored
  double products = 0;  ///< of a factor of a product
  double exp = 0;       ///< of an exponential, if it is worse than two ulp
  double step = 0;      ///< the output is a multiple of this
  Dtype output = Dtype::float32;
};

/// A finished output, the kernel that it should be of, and what was found of each row.
struct JudgedOutput {
  const Problem& problem;
  const Mask& mask;
  double scale;
  double softcap;                                         ///< 0: none
  std::function<std::optional<double>(Index head)> sink;  ///< of a head, or nullptr: none has one
  Array actual;                                           ///< (..., heads, T_q, d_v)
  Roundings roundings;
  std::vector<RowJudgement> rows;  ///< of all heads
  int threads = 1;

  Index heads() const { return problem.heads(); }
};

/// An output, (..., heads, T_q, d_v), of the kernel that computes what `heads` do in this arithmetic.
/// Refers to `heads`.
JudgedOutput judged_output(const Heads& heads, const Array& actual, const Arithmetic& arithmetic,
                           const Judgement& judgement, int threads);

}  // namespace sdpa
