#pragma once

#include <cstddef>

/// Constants of the model of row_error.cpp.
namespace sdpa::error_model {

constexpr double kSafety = 4;      // of errors that are independent
constexpr double kExp = 4;         // an exponential is within two ulp, which are 4 u
constexpr double kScaleError = 3;  // one ulp and half an ulp, in u
constexpr double kResolved = 2;    // ulp of a sum, of which one is at most 2 u times the sum
constexpr double kTile = 16;       // the fewest keys between two looks at a running maximum
constexpr std::size_t kBlock = 16;

inline double square(double x) {
  return x * x;
}

}  // namespace sdpa::error_model
