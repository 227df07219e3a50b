#pragma once

#include "array/array.h"
#include "oracle/big.h"

#include <cstdint>
#include <string>

namespace sdpa::oracle {

struct Problem {
  std::string generator;
  Array q, k, v;
  Dtype dtype;  ///< of the results
};

/// The small random problem of a seed: extents 1 to 9; float16, bfloat16, float32 or float64 inputs
/// or a mixture; every value finite. Six generators take turns, which differ in what they make
/// hard:
///
/// normal          nothing: what models hold
/// wide            exponents over much of the type's range: scores of 1e30, products beyond float64
/// masked          scores up to the largest number below others; takes turns with wide
/// few values      at most three different values: equal scores, averages that are midpoints
/// integers        equal scores, exact cancellation
/// subnormals      inputs, weights and results below the smallest normal number
/// near midpoints  results constructed to lie on a midpoint between two numbers of the result type,
///                 or closer to one than any precision chosen beforehand can tell
Problem random_problem(std::uint64_t seed);

struct TwoKeys {
  Array q;  ///< (1, d_k)
  Array k;  ///< (2, d_k), the second key is zero
};

/// A query whose weights on two keys stand in the ratio numerator : denominator (both positive) as
/// nearly as d_k numbers of type `dtype` can make it: the score of the first key is the logarithm
/// of the ratio to about 53 d_k bits (24 d_k for float32).
///
/// d_k   1, 4, 9, ...: a square, so that the scale is rational
TwoKeys two_keys(const Big& numerator, const Big& denominator, Index d_k, Dtype dtype);

}  // namespace sdpa::oracle
