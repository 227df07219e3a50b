#pragma once

#include "report/examiner.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa {

/// A known fault that an output looks like.
struct Resemblance {
  std::string fault;  ///< its id
  FaultParameter parameter;
  std::string words;
  Evidence evidence;
};

/// What is known of an output that no fault explains.
struct Likeness {
  double correlation = 0;  ///< of the rows looked at with the right ones; of direction only
  double factor = 0;       ///< by which the right ones come nearest
  double scale = 0;        ///< with which they come nearest
};

struct FaultFinding {
  std::vector<Resemblance> resembles;  ///< all faults that explain the output
  std::optional<Likeness> likeness;    ///< if there are none
};

/// Finds the known faults that explain an output some value of which is outside its bound.
///
/// A fault is named only if the output is within the bound of a kernel that has it wherever it was
/// judged wrong, and also where it was judged right, in all heads and rows, or in those that are
/// named. Parameters are searched for. Of one fault the likeliest parameter is named.
FaultFinding find_faults(const JudgedOutput& judged);

}  // namespace sdpa
