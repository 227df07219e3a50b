#include "io/declared.h"

#include "catch.h"
#include "io/error_of.h"

#include <cmath>
#include <cstring>

using namespace sdpa;

namespace {

template <class Number>
Array array_of(std::initializer_list<Number> values, Dtype dtype) {
  Array array(Shape({static_cast<Index>(values.size())}), dtype);
  std::memcpy(array.mutable_data(), values.begin(), values.size() * sizeof(Number));
  return array;
}

template <class Number>
std::string error_in(Number value, Dtype from, Dtype to) {
  return error_of([&] { declared(array_of<Number>({value}, from), to, "k.npy"); });
}

}  // namespace

TEST_CASE("declared: integers of 8 or 16 bits are the bits of a float of as many") {
  const Array shorts = array_of<std::uint16_t>({0x3C00, 0x3F80}, Dtype::uint16);
  CHECK(declared(shorts, Dtype::float16, "k").at(0) == 1);
  CHECK(declared(shorts, Dtype::bfloat16, "k").at(1) == 1);
  CHECK(declared(shorts, Dtype::float16, "k").data() == shorts.data());
  CHECK(declared(array_of<std::int8_t>({0x38}, Dtype::int8), Dtype::float8_e4m3fn, "k").at(0) == 1);
  CHECK(error_in(std::int8_t{5}, Dtype::int8, Dtype::float16) == "k.npy: holds int8, not float16");
  CHECK(error_in(std::int32_t{5}, Dtype::int32, Dtype::float32) ==
        "k.npy: holds int32, not float32");
}

TEST_CASE("declared: floats must hold in the type exactly") {
  const Array floats = array_of<float>({1.5F, -0.0F, HUGE_VALF, std::nanf("")}, Dtype::float32);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float64}) {
    const Array same = declared(floats, dtype, "k");
    CHECK(same.dtype() == dtype);
    CHECK(same.at(0) == 1.5);
    CHECK(std::signbit(same.at(1)));
    CHECK(same.at(2) == HUGE_VAL);
    CHECK(std::isnan(same.at(3)));
  }
  CHECK(error_in(0.1F, Dtype::float32, Dtype::float16) ==
        "k.npy: float32 0.1 at [0] is not a value of float16");
  CHECK(error_in(65520.0, Dtype::float64, Dtype::float16) != "");
  CHECK(error_in(449.0, Dtype::float64, Dtype::float8_e4m3fn) != "");
  CHECK(error_in(HUGE_VAL, Dtype::float64, Dtype::float8_e4m3fn) != "");
  CHECK(error_in(448.0, Dtype::float64, Dtype::float8_e4m3fn).empty());
}

TEST_CASE("declared: integers must be within the type") {
  CHECK(error_in(std::int64_t{128}, Dtype::int64, Dtype::int8) ==
        "k.npy: int64 128 at [0] is not a value of int8");
  CHECK(declared(array_of<std::int64_t>({-128, 127}, Dtype::int64), Dtype::int8, "k").at(0) ==
        -128);
  CHECK(error_in(-1.0, Dtype::float64, Dtype::uint16) != "");
  CHECK(error_in(0.5, Dtype::float64, Dtype::int32) != "");
  CHECK(error_in(std::nan(""), Dtype::float64, Dtype::int32) ==
        "k.npy: float64 nan at [0] is not a value of int32");
  CHECK(error_in(0x1p63, Dtype::float64, Dtype::int64) != "");
  CHECK(error_in(0x1p63, Dtype::float64, Dtype::uint64).empty());
  CHECK(declared(array_of<double>({-0x1p63}, Dtype::float64), Dtype::int64, "k").at(0) == -0x1p63);
  CHECK(error_in(std::uint8_t{2}, Dtype::uint8, Dtype::boolean) ==
        "k.npy: uint8 2 at [0] is not a value of bool");
  CHECK(declared(array_of<std::uint8_t>({1}, Dtype::uint8), Dtype::boolean, "k").at(0) == 1);
}
