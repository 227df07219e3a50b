#pragma once

#include "base/index.h"
#include "exact/big_float.h"

#include <array>
#include <cstdint>

namespace sdpa {

/// A sum of doubles and of products of two doubles, exactly: an integer on the common exponent of
/// all of them, some 4300 bits long. All terms are finite.
class BigSum {
 public:
  void add(double x) { add_product(x, 1); }
  void add_product(double x, double y);

  /// The sum so far, in as many bits as it needs.
  BigFloat value();

 private:
  static constexpr int kDigitBits = 32;
  /// The exponent of digit 0: at most that of any product of two mantissas, 2 * (-1073 - 53).
  static constexpr int kLowest = -71 * kDigitBits;
  /// Up to 2^2048 times the number of terms.
  static constexpr int kDigits = 137;
  static constexpr int kTermsBeforeCarry = 1 << 26;

  void add_bits(std::uint64_t bits, int position, bool negative);
  void carry();

  std::array<std::int64_t, kDigits> digits_{};
  int terms_ = 0;  // since the last carry
};

/// The sum of x[i] * y[i], exactly.
BigFloat big_dot(const double* x, const double* y, Index count);

}  // namespace sdpa
