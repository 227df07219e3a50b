#include "report/difference.h"

#include "catch.h"
#include "report/arrays.h"

#include <cmath>
#include <cstring>

using namespace sdpa;

namespace {

const double kNan = std::nan("");

Difference compare(const std::vector<double>& actual, const std::vector<double>& expected,
                   const Tolerance& tolerance = {}, Dtype actual_dtype = Dtype::float32,
                   Dtype expected_dtype = Dtype::float32) {
  const auto count = static_cast<Index>(actual.size());
  return difference(array_of(actual, {count}, actual_dtype),
                    array_of(expected, {count}, expected_dtype), tolerance);
}

/// Values of float32 with their signs, which store_rounded would take from zeros.
Array floats(const std::vector<float>& values) {
  Array array(Shape({static_cast<Index>(values.size())}), Dtype::float32);
  std::memcpy(array.mutable_data(), values.data(), 4 * values.size());
  return array;
}

}  // namespace

TEST_CASE("difference: equal arrays") {
  const Difference d = compare({1, 2, 0}, {1, 2, 0});
  CHECK(d.equal());
  CHECK(d.count == 3);
  CHECK(d.unequal == 0);
  CHECK_FALSE(d.first);
  CHECK_FALSE(d.worst);
  CHECK(d.absolute.position == -1);
  CHECK(d.median_ulps == 0);
}

TEST_CASE("difference: equal values of different types are equal") {
  CHECK(compare({1, 0.5}, {1, 0.5}, {}, Dtype::bfloat16, Dtype::float64).equal());
}

TEST_CASE("difference: places, sizes and ulps of what differs") {
  const Difference d = compare({1, 2 + 0x1p-20, 3, -4}, {1, 2, 3 + 0x1p-22, 4});
  CHECK_FALSE(d.equal());
  CHECK(d.unequal == 3);
  CHECK(d.outside == 3);
  CHECK(d.first == 1);
  CHECK(d.worst == 3);
  CHECK(d.absolute.value == 8);
  CHECK(d.absolute.position == 3);
  CHECK(d.relative.value == 2);
  CHECK(d.ulps.position == 1);
  CHECK(d.ulps.value == 4);
  CHECK(d.median_ulps == 1);  // of 0, 4, 1 and one across zero
  CHECK(d.across_zero == 1);
  CHECK(d.percentile_99_ulps == kInfinitelyFar);
}

TEST_CASE("difference: steps to zero, across it or beyond the type are not counted") {
  const Difference zero = compare({0, 1e-30, -1, 0x1p-149}, {1e-30, 0, 1, -0x1p-149});
  CHECK(zero.across_zero == 4);
  CHECK(zero.ulps.position == -1);
  const Difference tiny = compare({1e-200, 2}, {1.5e-200, 2}, {}, Dtype::float64, Dtype::float64);
  CHECK(tiny.across_zero == 0);
  CHECK(tiny.ulps.position == 0);
  const Difference beyond = compare({65504, 1}, {1e30, 1.5}, {}, Dtype::float16, Dtype::float32);
  CHECK(beyond.across_zero == 0);
  CHECK(beyond.beyond_ulp_type == 1);
  CHECK(beyond.ulps.position == 1);
  CHECK(beyond.ulps.value == 512);
}

TEST_CASE("difference: the relative difference of equal zeros is 0, whatever comes first") {
  // Issue 12: 0/0 was the first and stayed the largest.
  const Difference d = difference(floats({-0.0f, 1}), floats({0.0f, 2}), {.bitwise = true});
  CHECK(d.relative.value == 0.5);
  CHECK(d.relative.position == 1);
  CHECK(difference(floats({-0.0f}), floats({0.0f}), {.bitwise = true}).relative.value == 0);
}

TEST_CASE("difference: two numbers whose difference is beyond float64 have a relative one") {
  const Difference d = compare({1.5e308}, {-1e308}, {}, Dtype::float64, Dtype::float64);
  CHECK(d.absolute.value == HUGE_VAL);
  CHECK(d.relative.value == 2.5);
  CHECK(compare({1.5e308}, {-1e308}, {.rtol = 2.5}, Dtype::float64, Dtype::float64).equal());
  CHECK_FALSE(compare({1.5e308}, {-1e308}, {.rtol = 2.4}, Dtype::float64, Dtype::float64).equal());
  CHECK_FALSE(
      compare({1.5e308}, {-1e308}, {.atol = 1e308}, Dtype::float64, Dtype::float64).equal());
}

TEST_CASE("difference: 99 of 100 values are within the 99th percentile") {
  std::vector<double> actual(200, 1), expected(200, 1);
  actual[7] = 1 + 5 * 0x1p-23;
  actual[8] = 1 + 7 * 0x1p-23;
  actual[9] = 1 + 9 * 0x1p-23;
  CHECK(compare(actual, expected).percentile_99_ulps == 5);
  CHECK(compare(actual, expected).median_ulps == 0);
}

TEST_CASE("difference: ulps are those of the less precise type") {
  const Difference d = compare({1.25}, {1}, {}, Dtype::float32, Dtype::bfloat16);
  CHECK(d.ulp_type == Dtype::bfloat16);
  CHECK(d.ulps.value == 32);
  CHECK(compare({1.25}, {1}, {}, Dtype::float16, Dtype::float64).ulps.value == 256);
}

TEST_CASE("difference: max_ulp allows a difference of exactly that many") {
  CHECK(compare({1 + 0x1p-21}, {1}, {.max_ulp = 4}).equal());
  CHECK_FALSE(compare({1 + 0x1p-21}, {1}, {.max_ulp = 3}).equal());
  CHECK(compare({1.001}, {1}, {.max_ulp = 0}, Dtype::float32, Dtype::bfloat16).equal());
}

TEST_CASE("difference: atol + rtol |e| is allowed, and no more") {
  CHECK(compare({1.5}, {1}, {.atol = 0.25, .rtol = 0.25}).equal());
  CHECK_FALSE(compare({1.5}, {1}, {.atol = 0.25, .rtol = 0.2499}).equal());
  CHECK(compare({1.5}, {1}, {.rtol = 0.5}).equal());
  CHECK_FALSE(compare({0.1}, {0}, {.rtol = 0.5}).equal());
  CHECK_FALSE(compare({-1.5}, {-1}, {.atol = 0.4}).equal());
}

TEST_CASE("difference: one of max_ulp and atol is enough") {
  const Tolerance tolerance{.max_ulp = 1, .atol = 1e-6};
  CHECK(compare({1e-7, 1000 + 0x1p-14}, {-1e-7, 1000}, tolerance).equal());
  CHECK_FALSE(compare({1e-5}, {-1e-5}, tolerance).equal());
}

TEST_CASE("difference: within a tolerance values are unequal, but not outside") {
  const Difference d = compare({1.5, 9}, {1, 1}, {.atol = 0.5});
  CHECK(d.unequal == 2);
  CHECK(d.outside == 1);
  CHECK(d.first == 1);
  CHECK(d.pattern.text() == "one value");
}

TEST_CASE("difference: the worst place is the largest multiple of what is allowed") {
  CHECK(compare({101.5, 1.2}, {100, 1}, {.rtol = 0.01}).worst == 1);
  CHECK(compare({101.5, 1.2}, {100, 1}, {.atol = 0.01}).worst == 0);
}

TEST_CASE("difference: a NaN differs from a number under every tolerance") {
  for (const Tolerance& tolerance :
       {Tolerance{}, Tolerance{.max_ulp = kInfinitelyFar}, Tolerance{.atol = HUGE_VAL},
        Tolerance{.rtol = 1, .nan_equal = true}, Tolerance{.bitwise = true}}) {
    CHECK_FALSE(compare({kNan}, {1}, tolerance).equal());
    CHECK_FALSE(compare({1}, {kNan}, tolerance).equal());
  }
}

TEST_CASE("difference: a NaN equals a NaN only if that is said") {
  CHECK_FALSE(compare({kNan}, {kNan}).equal());
  CHECK_FALSE(compare({kNan}, {kNan}, {.atol = HUGE_VAL}).equal());
  CHECK(compare({kNan}, {-kNan}, {.nan_equal = true}).equal());
}

TEST_CASE("difference: NaN are counted on each side") {
  const Difference d = compare({kNan, kNan, 1}, {1, kNan, 1}, {.nan_equal = true});
  CHECK(d.actual_nans == 2);
  CHECK(d.expected_nans == 1);
  CHECK(d.incomparable == 1);
  CHECK(d.outside == 1);
}

TEST_CASE("difference: an infinity equals itself and is near to nothing") {
  CHECK(compare({HUGE_VAL}, {HUGE_VAL}).equal());
  for (const Tolerance& tolerance :
       {Tolerance{.rtol = 1}, Tolerance{.max_ulp = kInfinitelyFar}, Tolerance{.atol = HUGE_VAL}}) {
    CHECK_FALSE(compare({1}, {HUGE_VAL}, tolerance).equal());
    CHECK_FALSE(compare({HUGE_VAL}, {1}, tolerance).equal());
    CHECK_FALSE(compare({HUGE_VAL}, {-HUGE_VAL}, tolerance).equal());
  }
}

TEST_CASE(
    "difference: NaN and infinities are worse than any number, and in no largest difference") {
  const Difference d = compare({5, kNan}, {1, 1});
  CHECK(d.worst == 1);
  CHECK(d.absolute.value == 4);
  CHECK(d.absolute.position == 0);
}

TEST_CASE("difference: zeros of opposite signs are equal, but for --bitwise") {
  const Array negative = floats({-0.0f, 1}), positive = floats({0.0f, 1});
  const Difference d = difference(negative, positive, {});
  CHECK(d.equal());
  CHECK(d.zero_signs == 1);
  const Difference bitwise = difference(negative, positive, {.bitwise = true});
  CHECK(bitwise.outside == 1);
  CHECK(bitwise.first == 0);
  CHECK(bitwise.ulps.value == 0);
}

TEST_CASE("difference: bitwise, the same NaN is the same") {
  CHECK(difference(floats({std::nanf("")}), floats({std::nanf("")}), {.bitwise = true}).equal());
  CHECK_FALSE(
      difference(floats({std::nanf("")}), floats({-std::nanf("")}), {.bitwise = true}).equal());
}

TEST_CASE("difference: arrays longer than a chunk are compared to the end") {
  std::vector<double> actual(10000, 1), expected(10000, 1);
  actual[9999] = 2;
  CHECK(compare(actual, expected).first == 9999);
}

TEST_CASE("difference: the same bytes in both arrays hide no NaN, in any chunk") {
  for (const std::size_t position : {0u, 5000u, 9999u}) {
    std::vector<double> values(10000, 1);
    values[position] = kNan;
    const Difference d = compare(values, values);
    CHECK(d.first == static_cast<Index>(position));
    CHECK(d.outside == 1);
    CHECK(d.actual_nans == 1);
    CHECK(d.expected_nans == 1);
    CHECK(compare(values, values, {.nan_equal = true}).equal());
  }
}

TEST_CASE("difference: the same bytes of different types are not the same numbers") {
  const Array array = floats({1, 2});
  const Array others(array.shape(), Dtype::int32, nullptr, array.data());
  CHECK(difference(array, others, {}).unequal == 2);
}

TEST_CASE("difference: two empty arrays are equal") {
  const Difference d = compare({}, {});
  CHECK(d.equal());
  CHECK(d.count == 0);
  CHECK(d.median_ulps == 0);
}

TEST_CASE("difference: one element off by 4 ulp is found") {
  Generator generator(1);
  std::vector<double> expected = normal(generator, 40 * 16, 1, Dtype::float32);
  std::vector<double> actual = expected;
  actual[100] = expected[100] + 4 * ulp(expected[100], Dtype::float32);
  const Difference d = compare(actual, expected);
  CHECK(d.outside == 1);
  CHECK(d.first == 100);
  CHECK(d.ulps.value == 4);
  CHECK(d.pattern.text() == "one value");
  CHECK_FALSE(compare(actual, expected, {.max_ulp = 3}).equal());
}
