#pragma once

#include "cli/options.h"

namespace sdpa {

/// Each command: does what its options say and returns the exit code. Throws Error.

/// Reads q, k and v, computes attention for each of their matrices, and writes the output and, if
/// asked for, the weights. Neither file appears unless both are complete. Counts of values that are
/// not finite go to standard error as a warning.
int run(const AttendOptions& options);

/// Answers each line of a file, a case as an object of JSON, by a line with its output, in order, or with
/// {"error": ...}. Returns 0 if there was no error, else 2.
int run(const LinesOptions& options);

/// Compares two arrays and reports on standard output. Returns 0 if they are equal within the
/// tolerance, 1 if not, or if their shapes (with --bitwise: types) differ.
int run(const CompareOptions& options);

/// Computes the right output and reports on standard output how far the given one is from it, and
/// whether the bound of an honest kernel allows that. Returns 0 if it does, 1 if it does not, 2 if
/// there is no bound for some value or if zeros would pass too.
int run(const CheckOptions& options);

/// Shows which keys the queries of a shape see, without inputs: as a picture on standard output, as
/// JSON, or as an array of bool in a file.
int run(const MaskCommandOptions& options);

/// Writes the text to standard output.
int run(const ShowOptions& options);

}  // namespace sdpa
