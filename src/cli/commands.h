#pragma once

#include "cli/options.h"

namespace sdpa {

/// Each command: does what its options say and returns the exit code. Throws Error.

/// Reads q, k and v, computes attention for each of their matrices, and writes the output and, if
/// asked for, the weights. Neither file appears unless both are complete. Counts of values that are
/// not finite go to standard error as a warning.
int run(const AttendOptions& options);

/// Writes the text to standard output.
int run(const ShowOptions& options);

}  // namespace sdpa
