#pragma once

#include "report/close_look.h"

#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// What became of a wrong kernel under a bound; of several heads, the last of these decides.
enum class WrongKernelFate {
  absent,    ///< it does not exist for these shapes and options
  right,     ///< it gives the right values for these inputs
  accepted,  ///< the bound cannot tell it from a right one
  rejected,  ///< a value of it is outside the bound
};

struct WrongKernel {
  std::string_view name;
  WrongKernelFate fate = WrongKernelFate::absent;
  std::string reason = {};  ///< why it is right, or that the bound is too wide
  bool needed = false;      ///< a strict check has to reject it
};

/// The test of the test: would results that are known to be wrong pass a bound?
///
/// The wrong kernels of candidates.h are evaluated on the rows that a bound has looked at closely,
/// until a value is outside. A kernel whose values all round to the right ones there does not count
/// as wrong.
class WrongKernels {
 public:
  WrongKernels();

  /// Tries all on the next head. Returns whether the bound tells nothing: zeros, or the mean of v,
  /// are wrong and accepted.
  bool try_on(const CloseLook& look, const Arithmetic& arithmetic, int threads);

  /// What became of each on all heads so far.
  const std::vector<WrongKernel>& kernels() const { return kernels_; }

  /// How many rows, of all heads together, they were tried on at most.
  Index rows() const { return rows_; }

 private:
  std::vector<WrongKernel> kernels_;
  Index rows_ = 0;
};

}  // namespace sdpa
