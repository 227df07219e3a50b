#pragma once

#include "report/arithmetic.h"

#include <optional>
#include <string>
#include <string_view>

namespace sdpa {

/// What is declared of a kernel's arithmetic; the rest is usual for its output.
struct DeclaredArithmetic {
  std::optional<Dtype> sums, weights, scores;
  std::optional<Products> products;
  double exp = 0, step = 0;

  /// All of it.
  ///
  /// short_values   whether v has the type of an output of 16 bits: hardware that multiplies matrices
  ///                of such a type needs both of them in it, so that is then the type of the weights
  Arithmetic of(Dtype output, bool short_values) const;
};

/// Reads "sums=float32,weights=bfloat16,products=tf32,exp=1e-3,step=2^-11" or a part of it. Throws
/// Error, beginning with the option's name, if a part is none of these or is given twice.
DeclaredArithmetic arithmetic_from(const std::string& name, std::string_view word);

}  // namespace sdpa
