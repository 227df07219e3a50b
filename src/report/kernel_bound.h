#pragma once

#include "array/array.h"

#include <vector>

namespace sdpa {

/// The arithmetic that a kernel declares.
struct Arithmetic {
  Dtype accumulate;  ///< of scores, exponentials and sums
  Dtype weights;     ///< in which the weights enter the second product
  Dtype output;      ///< of the result
};

/// For each element of the output (T_q, d_v), in C order, the right value and how far from it a
/// value of an honest kernel may be.
struct KernelBounds {
  /// In float64 arithmetic. Not finite where the formula gives no number.
  std::vector<double> output;

  /// Infinite where float64 has no room for the bound: no statement about that element.
  std::vector<double> allowed;
};

/// How far an honest kernel may be from o = softmax(q k^T / sqrt(d_k)) v for one head.
///
/// q   (T_q, d_k)
/// k   (T_k, d_k)
/// v   (T_k, d_v)
///
/// A kernel is honest if it evaluates the formula by operations each of which is rounded to nearest
/// in the declared arithmetic: sums in any order that is not chosen against the data, the scale
/// applied to q or to the scores, the softmax in one pass over blocks of keys with a running
/// maximum or in several passes, the division before or after the second product. The derivation is
/// in row_error.cpp.
///
/// Rows are shared among `threads` threads. The memory is that of the result, of k and v in
/// float64, and a few times T_k + d_v numbers for each thread.
KernelBounds kernel_bounds(const Array& q, const Array& k, const Array& v,
                           const Arithmetic& arithmetic, int threads);

}  // namespace sdpa
