#include "report/ulp.h"

#include "catch.h"

#include <cmath>

using namespace sdpa;

TEST_CASE("ulp: the unit roundoff is half the distance from 1 to the next number") {
  CHECK(unit_roundoff(Dtype::float16) == 0x1p-11);
  CHECK(unit_roundoff(Dtype::bfloat16) == 0x1p-8);
  CHECK(unit_roundoff(Dtype::float32) == 0x1p-24);
  CHECK(unit_roundoff(Dtype::float64) == 0x1p-53);
  CHECK(unit_roundoff(Dtype::int32) == 0x1p-53);
}

TEST_CASE("ulp: the distance to the next number away from zero") {
  CHECK(ulp(1.0, Dtype::float32) == 0x1p-23);
  CHECK(ulp(-1.5, Dtype::bfloat16) == 0x1p-7);
  CHECK(ulp(65504.0, Dtype::float16) == 32.0);
  CHECK(ulp(65536.0, Dtype::float16) == HUGE_VAL);
  CHECK(ulp(0x1p-20, Dtype::float16) == 0x1p-24);
  CHECK(ulp(0.0, Dtype::float64) == 0x1p-1074);
  CHECK(ulp(-HUGE_VAL, Dtype::float32) == HUGE_VAL);
  CHECK(std::isnan(ulp(std::nan(""), Dtype::float32)));
}

TEST_CASE("ulp: of two types the less precise one counts, and integers count as float64") {
  CHECK(less_precise(Dtype::float16, Dtype::bfloat16) == Dtype::bfloat16);
  CHECK(less_precise(Dtype::float32, Dtype::float16) == Dtype::float16);
  CHECK(less_precise(Dtype::int64, Dtype::float32) == Dtype::float32);
  CHECK(less_precise(Dtype::int8, Dtype::uint64) == Dtype::float64);
}

TEST_CASE("ulp: distances count the steps between numbers of the type") {
  CHECK(ulp_distance(1.0, 1.0 + 0x1p-23, Dtype::float32) == 1);
  CHECK(ulp_distance(1.0, 1.0 - 0x1p-24, Dtype::float32) == 1);
  CHECK(ulp_distance(1.0, 1.25, Dtype::bfloat16) == 32);
  CHECK(ulp_distance(0x1p-24, -0x1p-24, Dtype::float16) == 2);
  CHECK(ulp_distance(0.0, -0.0, Dtype::float64) == 0);
  CHECK(ulp_distance(-0x1.fffffffffffffp1023, 0x1.fffffffffffffp1023, Dtype::float64) ==
        2 * 0x7fefffffffffffffu);
}

TEST_CASE("ulp: values of a finer type are rounded before the steps are counted") {
  CHECK(ulp_distance(1.0, 1.003, Dtype::bfloat16) == 0);
  CHECK(ulp_distance(1.0, 1.005, Dtype::bfloat16) == 1);
}

TEST_CASE("ulp: NaN and infinities are infinitely far from anything else") {
  CHECK(ulp_distance(HUGE_VAL, HUGE_VAL, Dtype::float32) == 0);
  CHECK(ulp_distance(HUGE_VAL, -HUGE_VAL, Dtype::float32) == kInfinitelyFar);
  CHECK(ulp_distance(HUGE_VAL, 65504.0, Dtype::float16) == kInfinitelyFar);
  CHECK(ulp_distance(1e30, 65504.0, Dtype::float16) == kInfinitelyFar);
  CHECK(ulp_distance(std::nan(""), std::nan(""), Dtype::float64) == kInfinitelyFar);
}
