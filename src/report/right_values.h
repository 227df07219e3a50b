#pragma once

#include "array/array.h"

#include <functional>
#include <vector>

namespace sdpa {

/// Right values of some rows of an output.
struct RightValues {
  std::vector<double> rounded;  ///< once, to the type of the output

  /// Not further from the exact value than half an ulp of float32 for an output of 16 bits or fewer; the
  /// same
  /// as `rounded` for the others.
  std::vector<double> unrounded;
};

/// The type in which exact results are wanted for an output of type `output`: float32 for 16 bits
/// or fewer, whose values before rounding tell more; else its own.
Dtype type_of_exact_results(Dtype output);

/// exact         (rows, d_v)   exact results in that type
/// rounded_rows  gives exact results in the type `output`, of rows first ... first + count - 1;
///               called for rows with a value that float32 has rounded to the middle between two
///               numbers of the output
RightValues right_values(const Array& exact, Dtype output,
                         const std::function<Array(Index first, Index count)>& rounded_rows);

}  // namespace sdpa
