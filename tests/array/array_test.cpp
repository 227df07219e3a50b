#include "array/array.h"

#include "base/error.h"
#include "catch.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

using namespace sdpa;

namespace {

template <class Number>
Array filled(Shape shape, Dtype dtype, const std::vector<Number>& values) {
  Array array(std::move(shape), dtype);
  std::memcpy(array.mutable_data(), values.data(), values.size() * sizeof(Number));
  return array;
}

Array counting(std::vector<Index> extents) {
  Array array(Shape(std::move(extents)), Dtype::float32);
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    const double value = static_cast<double>(i);
    store_rounded(&value, 1, Dtype::float32, array.mutable_data() + 4 * i);
  }
  return array;
}

}  // namespace

TEST_CASE("array: a new array is zeros of its size") {
  const Array array(Shape({2, 3}), Dtype::float16);
  CHECK(array.size_bytes() == 12);
  CHECK(array.bytes().size() == 12);
  for (std::byte byte : array.bytes()) CHECK(byte == std::byte{0});
  CHECK(Array(Shape({0, 3}), Dtype::float64).size_bytes() == 0);
}

TEST_CASE("array: copies share the memory") {
  const Array array = counting({2, 2});
  const Array copy = array;
  CHECK(copy.data() == array.data());
}

TEST_CASE("array: no memory for the shape is an error that shows it") {
  CHECK_THROWS_AS(Array(Shape({Index{1} << 59}), Dtype::float64), Error);
}

TEST_CASE("array: memory of another owner is used in place and kept") {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> watch = owner;
  const auto* data = reinterpret_cast<const std::byte*>(owner->data());
  {
    const Array array(Shape({2, 2}), Dtype::float32, std::move(owner), data);
    CHECK(array.data() == data);
    CHECK(array.at(3) == 4);
    CHECK_FALSE(watch.expired());
  }
  CHECK(watch.expired());
}

TEST_CASE("array: rows are a part in the same memory") {
  const Array array = counting({4, 3});
  const Array rows = array.rows(1, 2);
  CHECK(rows.shape() == Shape({2, 3}));
  CHECK(rows.data() == array.data() + 12);
  CHECK(rows.at(0) == 3);
  CHECK(rows.at(5) == 8);
  CHECK(array.rows(4, 0).shape() == Shape({0, 3}));
  CHECK(Array(Shape({0, 3}), Dtype::float32).rows(0, 0).size_bytes() == 0);
}

TEST_CASE("array: matrices are counted over all leading axes") {
  const Array array = counting({2, 3, 2, 2});
  CHECK(array.matrix(0).shape() == Shape({2, 2}));
  CHECK(array.matrix(4).at(0) == 16);
  CHECK(array.matrix(5).at(3) == 23);
  CHECK(counting({2, 2}).matrix(0).at(3) == 3);
}

TEST_CASE("array: elements of every type are read exactly") {
  const Shape one({1});
  CHECK(filled<std::uint16_t>(one, Dtype::float16, {0x3555}).at(0) == 0x1.554p-2);
  CHECK(filled<std::uint16_t>(one, Dtype::bfloat16, {0x0001}).at(0) == 0x1p-133);
  CHECK(filled<float>(one, Dtype::float32, {0.1f}).at(0) == static_cast<double>(0.1f));
  CHECK(filled<double>(one, Dtype::float64, {5e-324}).at(0) == 5e-324);
  CHECK(filled<std::int8_t>(one, Dtype::int8, {-128}).at(0) == -128);
  CHECK(filled<std::uint8_t>(one, Dtype::uint8, {255}).at(0) == 255);
  CHECK(filled<std::int16_t>(one, Dtype::int16, {-32768}).at(0) == -32768);
  CHECK(filled<std::uint16_t>(one, Dtype::uint16, {65535}).at(0) == 65535);
  CHECK(filled<std::int32_t>(one, Dtype::int32, {-2147483647 - 1}).at(0) == -0x1p31);
  CHECK(filled<std::uint32_t>(one, Dtype::uint32, {4294967295u}).at(0) == 0x1p32 - 1);
  CHECK(filled<std::int64_t>(one, Dtype::int64, {-(std::int64_t{1} << 53)}).at(0) == -0x1p53);
  CHECK(filled<std::uint64_t>(one, Dtype::uint64, {std::uint64_t{1} << 63}).at(0) == 0x1p63);
}

TEST_CASE("array: elements read as float are rounded once, to even") {
  const Array array =
      filled<double>(Shape({3}), Dtype::float64, {1 + 0x1p-24, 1 + 0x1p-23 + 0x1p-24, 0.1});
  float values[2];
  read_elements(array, 1, 2, values);
  CHECK(values[0] == 1 + 0x1p-22f);
  CHECK(values[1] == 0.1f);
  read_elements(array, 0, 1, values);
  CHECK(values[0] == 1);
}

TEST_CASE("array: store_rounded rounds once to the type, to even") {
  const double values[] = {1 + 0x1p-11, 1 + 0x3p-11, 0x1p-25, 0x1.8p-24, 65520, -1e300};
  Array array(Shape({6}), Dtype::float16);
  store_rounded(values, 6, Dtype::float16, array.mutable_data());
  const double expected[] = {1, 1 + 0x1p-9, 0, 0x1p-23, HUGE_VAL, -HUGE_VAL};
  for (Index i = 0; i < 6; ++i) CHECK(array.at(i) == expected[i]);
}

TEST_CASE("array: store_rounded keeps NaN, and stores a zero as +0 in every type") {
  const double values[] = {std::nan(""), -0.0, -5e-324};
  for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
    INFO(name(dtype));
    Array array(Shape({3}), dtype);
    store_rounded(values, 3, dtype, array.mutable_data());
    CHECK(std::isnan(array.at(0)));
    CHECK_FALSE(std::signbit(array.at(1)));
    if (dtype != Dtype::float64) CHECK_FALSE(std::signbit(array.at(2)));
  }
}

TEST_CASE("array: store_rounded refuses integers") {
  const double value = 1;
  std::byte memory[8];
  CHECK_THROWS_AS(store_rounded(&value, 1, Dtype::int32, memory), Error);
}
