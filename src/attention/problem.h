#pragma once

#include "array/array.h"
#include "stage/head.h"

#include <string>

namespace sdpa {

/// How messages call the three operands, for example by their files.
struct OperandNames {
  std::string q = "q";
  std::string k = "k";
  std::string v = "v";
};

/// A problem: as many heads as all extents before the last two multiply to, each of these extents.
struct Problem {
  Index heads;
  Extents n;
};

/// The problem of attention on q (..., T_q, d_k), k (..., T_k, d_k), v (..., T_k, d_v) with the same
/// leading extents.
///
/// Throws Error, beginning with the name of the operand at fault and giving both values, if an
/// operand has fewer than two axes, if the leading extents differ, if d_k of k is not that of q, if
/// T_k of v is not that of k, if T_k is 0 (there is no key to attend to) or if d_k is 0 (there is
/// no scale).
Problem check_shapes(const Array& q, const Array& k, const Array& v,
                     const OperandNames& names = {});

}  // namespace sdpa
