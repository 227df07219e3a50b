#pragma once

#include "array/array.h"
#include "kernel/blocks.h"
#include "oracle/matrix.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

/// Inputs whose float64 results are off by about as much as rounding can make them, and whose exact
/// results lie just on the other side of a midpoint between two float32 numbers: a bound that is too
/// small by a few units decides some of the columns wrongly.
namespace sdpa::oracle {

struct Adversary {
  std::string name;
  Array q, k, v;  ///< float64; one query
};

/// What a column's first value must be for the average to be `result`, and its neighbours: columns
/// step through the distances to the midpoint.
///
/// s      [T_k] scores
/// v      [T_k] the column; v[0] is replaced
/// step   between the first values of neighbouring columns
inline Array columns_about(double result, const std::vector<double>& s, std::vector<double> v,
                           double step) {
  constexpr Index kColumns = 128;
  long double sum = 0, rest = 0;
  for (std::size_t j = 0; j < s.size(); ++j) {
    const long double p = std::exp(static_cast<long double>(s[j]));
    sum += p;
    if (j > 0) rest += p * static_cast<long double>(v[j]);
  }
  const long double first =
      (static_cast<long double>(result) * sum - rest) / std::exp(static_cast<long double>(s[0]));
  const double middle =
      step * static_cast<double>(std::round(first / static_cast<long double>(step)));
  std::vector<double> values;
  for (std::size_t j = 0; j < v.size(); ++j)
    for (Index d = 0; d < kColumns; ++d)
      values.push_back(j == 0 ? middle + step * static_cast<double>(d - kColumns / 2) : v[j]);
  return matrix(static_cast<Index>(v.size()), kColumns, values);
}

/// Both sums lose nearly half a unit in their last places whenever a rounding takes place that key 0
/// takes part in, that of the numerators below the first numerator, 256, and that of the values below
/// -1.5 times it: so the quotient's numerator is too far from zero and its denominator too near. The
/// roundings after the first chains are those of key 0's block and span.
inline Adversary both_sums_round_apart() {
  constexpr Index kKeys = kernel::kKeySpan;
  constexpr double kUnit = 0x1p-44, kFirst = 256;  // of numbers from 256 to 512
  const auto loses = [](Index j) {
    return j < kernel::kKeyChain || (j < kernel::kKeyBlock && j % kernel::kKeyChain == 0) ||
           j % kernel::kKeyBlock == 0;
  };
  std::vector<double> s{std::log(kFirst)};
  for (Index j = 1; j < kKeys; ++j) {
    const double whole = 0x1p36;  // 2^-8 of these units
    s.push_back(std::log((whole + (loses(j) ? 0.5 - 0x1p-9 : 0.0)) * kUnit));
  }
  std::vector<double> v(s.size(), 1);
  // A midpoint of float32 near the average of -1.5 and the others.
  constexpr double kMidpoint = -1.425 - 0x1p-24;
  const double midpoint = std::floor(kMidpoint * 0x1p23) * 0x1p-23 + 0x1p-24;
  return {"both sums round apart", matrix({{1}}), matrix(kKeys, 1, s),
          columns_about(midpoint, s, v, 0x1p-52)};
}

/// Equal weights. Values 1 and -1 cancel, and those between them were lost below the 1.
inline Adversary lost_between_cancelling_keys() {
  constexpr Index kKeys = kernel::kKeyChain + 1;
  std::vector<double> v(kKeys, 0.99 * 0x1p-53);
  v[1] = 1;
  v[kernel::kKeyChain] = -1;
  // The first value is a multiple of 2^-52, so that with 1 it makes a sum that is not rounded.
  return {"lost between cancelling keys", matrix({{0}}),
          matrix(kKeys, 1, std::vector<double>(kKeys, 1)),
          columns_about(0x1p-20 + 0x1p-44, std::vector<double>(kKeys, 0), v, 0x1p-52)};
}

/// Two keys whose scores are equal but for products that are lost below the first one, above it and
/// below. Their values are nearly opposite. Keys of no weight may stand before them, and a key with a
/// larger value and the opposite score behind.
inline Adversary scores_round_apart(Index keys_before, bool larger_value) {
  constexpr Index kFeatures = kernel::kFeatureChain;
  const double first = 8.0625, small = std::sqrt(0.99 * 0x1p-47);  // first^2 is in [64, 128)
  std::vector<double> q(kFeatures, small), k, s, v;
  q[0] = first;
  const auto add_key = [&](double sign_of_first, double sign_of_rest, double value) {
    long double dot = 0;
    for (Index i = 0; i < kFeatures; ++i) {
      const double q_i = q[static_cast<std::size_t>(i)];
      k.push_back(q_i * (i == 0 ? sign_of_first : sign_of_rest));
      dot += static_cast<long double>(q_i) * static_cast<long double>(k.back());
    }
    s.push_back(static_cast<double>(dot / 4));
    v.push_back(value);
  };
  add_key(1, 1, 0);
  for (Index j = 0; j < keys_before; ++j) add_key(0, 0, 0);
  add_key(1, -1, -1);
  if (larger_value) add_key(-1, 0, 2);
  const std::string name = "scores round apart, " + std::to_string(keys_before) + " keys between" +
                           (larger_value ? ", a larger value behind" : "");
  return {name, matrix(1, kFeatures, q), matrix(std::ssize(s), kFeatures, k),
          columns_about(0x1p-20 + 0x1p-44, s, v, 0x1p-51)};
}

inline std::vector<Adversary> adversaries() {
  return {both_sums_round_apart(), lost_between_cancelling_keys(), scores_round_apart(0, false),
          scores_round_apart(0, true), scores_round_apart(600, false)};
}

}  // namespace sdpa::oracle
