#include "report/non_finite.h"

#include "catch.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace sdpa;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Array array_of(const std::vector<double>& values, Dtype dtype) {
  const auto count = static_cast<Index>(values.size());
  Array array(Shape({count}), dtype);
  store_rounded(values.data(), count, dtype, array.mutable_data());
  return array;
}

}  // namespace

TEST_CASE("non_finite: NaN and both infinities are counted in every float type") {
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    CAPTURE(name(dtype));
    const NonFinite found =
        find_non_finite(array_of({0, 1.5, kInfinity, -2, kNan, -kInfinity, 3}, dtype));
    CHECK(found.count == 3);
    CHECK(found.nans == 1);
    CHECK(found.first == 2);
  }
}

TEST_CASE("non_finite: the largest and the smallest numbers are finite") {
  const auto none = [](const Array& array) {
    const NonFinite found = find_non_finite(array);
    return found.count == 0 && !found.first;
  };
  CHECK(none(array_of({65504, -65504, std::ldexp(1, -24)}, Dtype::float16)));
  CHECK(none(array_of({std::ldexp(255, 120), std::ldexp(1, -133)}, Dtype::bfloat16)));
  CHECK(none(array_of({std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()},
                      Dtype::float32)));
  CHECK(
      none(array_of({std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()},
                    Dtype::float64)));
}

TEST_CASE("non_finite: an array without elements has none") {
  CHECK(find_non_finite(array_of({}, Dtype::float32)).count == 0);
}
