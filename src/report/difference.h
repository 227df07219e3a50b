#pragma once

#include "array/array.h"
#include "report/pattern.h"

#include <cstdint>
#include <optional>

namespace sdpa {

/// Which values count as the expected one. Without anything set: equal values, where the two zeros
/// are equal and a NaN equals nothing.
struct Tolerance {
  bool bitwise = false;                    ///< the same bits: sign of zero and kind of NaN included
  std::optional<std::uint64_t> max_ulp{};  ///< or this near, in ulp
  std::optional<double> atol{},
      rtol{};              ///< or |a - e| <= atol + rtol |e|; one alone: the other is 0
  bool nan_equal = false;  ///< a NaN equals a NaN
};

/// A largest value and where it is.
template <class Value>
struct Largest {
  Value value{};
  Index position = -1;  ///< -1: no two numbers differ
};

/// What tells two arrays of one shape apart. Positions are in C order.
struct Difference {
  Dtype ulp_type;          ///< whose ulps are counted: the less precise of the two types
  Index count = 0;         ///< values in each array
  Index unequal = 0;       ///< places whose values are not equal
  Index outside = 0;       ///< those of them that the tolerance does not allow
  Index incomparable = 0;  ///< those where a NaN, or an infinity, stands on one side
  Index zero_signs = 0;    ///< places where zeros have opposite signs
  Index actual_nans = 0, expected_nans = 0;
  std::optional<Index> first{};  ///< the first place outside the tolerance
  std::optional<Index> worst{};  ///< the worst of those places, see difference()

  // Of the places where both values are finite:
  Largest<double> absolute{};  ///< |a - e|
  Largest<double> relative{};  ///< |a - e| / |e|, infinite where only e is 0

  // Steps of ulp_type: of values on one side of zero that have numbers in it. The others are counted
  // apart and infinitely far.
  Largest<std::uint64_t> ulps{};
  std::uint64_t median_ulps = 0, percentile_99_ulps = 0;
  Index across_zero = 0;      ///< one of the values is 0, or their signs differ
  Index beyond_ulp_type = 0;  ///< one of the values is beyond its range

  Pattern pattern;  ///< of the places outside the tolerance

  bool equal() const { return outside == 0; }
};

/// Compares two arrays of one shape, value by value and in this order: equality, then NaN and
/// infinities (which no tolerance allows), then the tolerance. A value is allowed if max_ulp or
/// atol with rtol allows it.
///
/// The worst place is one with a NaN or an infinity on one side; else the one that is the largest
/// multiple of what is allowed, and among equals (and without a tolerance) that of the largest
/// |a - e|; the first of several.
///
/// bitwise needs two arrays of one type. Takes one word of memory for each place that differs.
Difference difference(const Array& actual, const Array& expected, const Tolerance& tolerance);

}  // namespace sdpa
