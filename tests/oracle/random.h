#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace sdpa::oracle {

/// Random choices that are the same everywhere for the same seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// An integer in [low, high], all (nearly) equally likely.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    const std::uint64_t count =
        static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + engine_() % count);
  }

  bool one_in(std::int64_t n) { return integer(1, n) == 1; }

  template <class Value>
  Value pick(const std::vector<Value>& from) {
    return from[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

  /// A number in [0, 1) with up to 53 bits.
  double fraction() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  /// About normal with variance 1: the sum of twelve uniform numbers.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += fraction();
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sdpa::oracle
