#pragma once

#include "array/array.h"
#include "report/kernel_bound.h"

#include <string_view>
#include <vector>

namespace sdpa {

/// What became of a wrong kernel under a bound; of several heads, the last of these decides.
enum class WrongKernelFate {
  untried,   ///< it does not exist for these shapes, or gives the right values for these inputs
  accepted,  ///< the bound cannot tell it from a right one
  rejected,  ///< a value of it is outside the bound
};

struct WrongKernel {
  std::string_view name;
  WrongKernelFate fate = WrongKernelFate::untried;
};

/// The test of the test: would results that are known to be wrong pass a bound?
///
/// The wrong kernels are: zeros, the mean of v, scores without the scale, the softmax over the
/// queries, without the last key, and k and v swapped. They are evaluated in float64, in the order
/// of rows, until a value is outside the bound; no row is left out, so what is accepted would have
/// passed entirely. A kernel whose values all round to the right ones does not count as wrong.
class WrongKernels {
 public:
  WrongKernels();

  /// Tries those that are not yet rejected on the next head.
  ///
  /// q, k, v   (T_q, d_k), (T_k, d_k), (T_k, d_v)
  /// bounds    of this problem
  /// output    type of the output that is judged
  void try_on(const Array& q, const Array& k, const Array& v, const KernelBounds& bounds,
              Dtype output);

  const std::vector<WrongKernel>& kernels() const { return kernels_; }

 private:
  std::vector<WrongKernel> kernels_;
};

}  // namespace sdpa
