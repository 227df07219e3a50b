#pragma once

#include "report/faults.h"
#include "report/judgement.h"
#include "report/reference.h"
#include "report/wrong_kernels.h"

#include <functional>
#include <string>
#include <vector>

namespace sdpa {

enum class Verdict { within, outside, no_judgement, nothing };

/// What a check finds out about an output.
struct Finding {
  Arithmetic arithmetic;
  Index heads;
  std::string mask;   ///< what was applied, empty if nothing
  MaskCounts counts;  ///< of what it lets queries see
  Judgement judgement;
  WrongKernels wrong;
  std::vector<Index> vacuous_heads;  ///< whose bound zeros or the mean of v would pass

  /// If it is outside: other arithmetics that it is within, as "products=tf32".
  std::vector<std::string> within_under;

  std::optional<FaultFinding> faults;  ///< if they were looked for

  /// A fault of scale, softmax, keys, maximum or mask that the data do not show is no judgement.
  bool strict = false;

  /// Those of a strict check among not_told().
  std::vector<std::string> needed_but_not_told() const;

  /// Names of the wrong kernels that the bound rejects.
  std::vector<std::string> rejected() const;

  /// Those that it cannot tell from a right one.
  std::vector<WrongKernel> not_told() const;

  Verdict verdict() const;
};

/// Judges an output of the type that `arithmetic` says, some rows at a time.
///
/// actual   (..., heads, T_q, d_v)   whatever the layout of q
/// done     is called with the number of rows that are judged
/// errors   null, or where the error of each value goes; see Judge::keep_errors
///
/// If a value is outside, arithmetics that kernels use without saying so are tried, too.
Finding find(const HeadsOf& heads, const Array& actual, const Arithmetic& arithmetic, int threads,
             const std::function<void(Index rows)>& done, float* errors = nullptr);

}  // namespace sdpa
