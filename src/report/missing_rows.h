#pragma once

#include "report/faults.h"

#include <vector>

namespace sdpa {

/// Rows of an output, or columns, that are zeros where they must not be: that nobody has written.
/// Empty if something else is wrong with the output, too.
std::vector<Resemblance> missing_rows(const JudgedOutput& judged);

}  // namespace sdpa
