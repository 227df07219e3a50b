#include "report/number_type.h"

#include "catch.h"
#include "report/arrays.h"

#include <cmath>

using namespace sdpa;

TEST_CASE("number type: the least precise type that holds all numbers") {
  const auto type = [](std::vector<double> values, Dtype dtype) {
    const auto count = static_cast<Index>(values.size());
    return narrower_type(array_of(values, {1, count}, dtype));
  };
  CHECK(type({1, 0.5, -3}, Dtype::float32) == Dtype::bfloat16);
  CHECK(type({1, 1 + 0x1p-10}, Dtype::float32) == Dtype::float16);
  CHECK(type({0x1p100, 1 + 0x1p-7, HUGE_VAL, std::nan("")}, Dtype::float64) == Dtype::bfloat16);
  CHECK(type({1, 1 + 0x1p-11}, Dtype::float32) == std::nullopt);
  CHECK(type({1, 1 + 0x1p-23}, Dtype::float64) == Dtype::float32);
  CHECK(type({1, 1 + 0x1p-24}, Dtype::float64) == std::nullopt);
  CHECK(type({1, 2}, Dtype::bfloat16) == std::nullopt);
  CHECK(type({HUGE_VAL, std::nan("")}, Dtype::float32) == std::nullopt);
  CHECK(type({}, Dtype::float32) == std::nullopt);
}

TEST_CASE("number type: decimals of float32 in a text are float32") {
  // 0.1 and 16777218 are the shortest forms of numbers of float32, 0.12345678901 is of none.
  const Array decimals = array_of({0.1, 16777218, 1e-45}, {1, 3}, Dtype::float64);
  CHECK(narrower_type(decimals) == Dtype::float32);
  CHECK(narrowed(decimals, Dtype::float32).at(0) == 0.1f);
  CHECK(narrower_type(array_of({0.1, 0.12345678901}, {1, 2}, Dtype::float64)) == std::nullopt);
}

TEST_CASE("number type: elements that need a wider type are counted") {
  const Array array = array_of({1, 0.1, HUGE_VAL, 1 + 0x1p-8, 1 + 0x1p-7}, {5, 1});
  CHECK(count_wider(array, Dtype::bfloat16) == 2);
  CHECK(count_wider(array, Dtype::float16) == 1);
}
