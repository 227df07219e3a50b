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
/// queries, without the last key, and k and v swapped. They are evaluated on the rows that a bound
/// has looked at closely, until a value is outside. A kernel whose values all round to the right
/// ones there does not count as wrong.
class WrongKernels {
 public:
  WrongKernels();

  /// Tries all on the next head.
  ///
  /// q, k, v   (T_q, d_k), (T_k, d_k), (T_k, d_v)
  /// look      at the head, with the bound
  /// output    type of the output that is judged
  ///
  /// Returns whether the bound tells nothing: zeros, or the mean of v, are wrong and accepted.
  bool try_on(const Array& q, const Array& k, const Array& v, const CloseLook& look, Dtype output,
              int threads);

  /// What became of each on all heads so far.
  const std::vector<WrongKernel>& kernels() const { return kernels_; }

  /// How many rows, of all heads together, they were tried on at most.
  Index rows() const { return rows_; }

 private:
  std::vector<WrongKernel> kernels_;
  Index rows_ = 0;
};

}  // namespace sdpa
