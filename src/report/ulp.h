#pragma once

#include "array/dtype.h"

#include <cstdint>
#include <limits>

namespace sdpa {

/// The distance of two values of which one is a NaN, or an infinity and the other is not it.
constexpr std::uint64_t kInfinitelyFar = std::numeric_limits<std::uint64_t>::max();

/// In all of these an integer type counts as float64, whose values its elements are.

/// The largest relative error of one rounding: 2^-p for a type of p significant bits.
double unit_roundoff(Dtype dtype);

/// Distance from |value| up to the next number of the type; of the subnormals below its normal
/// range, infinite above it. Of a NaN it is a NaN.
double ulp(double value, Dtype dtype);

/// The type of fewer significant bits.
Dtype less_precise(Dtype a, Dtype b);

/// How many steps from one number of the type to the next lead from a to b, both rounded to it
/// first. The two zeros are one number. kInfinitelyFar if a or b is a NaN, if one is infinite and
/// the other is not the same infinity, or if the type has no finite number for one of two that
/// differ.
std::uint64_t ulp_distance(double a, double b, Dtype dtype);

}  // namespace sdpa
