#include "base/checked.h"

#include "catch.h"

#include <limits>

using namespace sdpa;

namespace {
constexpr Index kLargest = std::numeric_limits<Index>::max();
constexpr Index kSmallest = std::numeric_limits<Index>::min();
}  // namespace

TEST_CASE("checked: a product that fits is the product") {
  CHECK(checked_multiply(6, 7) == 42);
  CHECK(checked_multiply(-6, 7) == -42);
  CHECK(checked_multiply(0, kLargest) == 0);
  CHECK(checked_multiply(kLargest, 1) == kLargest);
  CHECK(checked_multiply(Index{1} << 31, Index{1} << 31) == Index{1} << 62);
}

TEST_CASE("checked: a product that does not fit is nothing") {
  CHECK_FALSE(checked_multiply(Index{1} << 32, Index{1} << 31).has_value());
  CHECK_FALSE(checked_multiply(kLargest, 2).has_value());
  CHECK_FALSE(checked_multiply(kSmallest, -1).has_value());
}
