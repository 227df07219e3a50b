#include "io/factor.h"

#include "array/array.h"
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

std::string error_in(const Array& array, std::string_view word) {
  return error_of([&] { multiplied(array, parse_factor(word, "k.npy"), "k.npy"); });
}

}  // namespace

TEST_CASE("factor: a decimal is the nearest float64, with f the nearest float32, 2^N itself") {
  CHECK(parse_factor("0.0173", "k").value == 0.0173);
  CHECK(parse_factor("0.0173f", "k").value == static_cast<double>(0.0173f));
  CHECK(parse_factor("-1.5e-3f", "k").value == static_cast<double>(-1.5e-3f));
  CHECK(parse_factor("2^-11", "k").value == 0x1p-11);
  CHECK(parse_factor("2^0", "k").value == 1);
  CHECK(parse_factor("0", "k").value == 0);
  for (const char* word : {"", "f", "inf", "nan", "1e400", "1e39f", "2^", "2^0.5", "2^1024",
                           "2^-1075", "3^2", "1/3", "0x1p3"})
    CHECK(error_of([&] {
            parse_factor(word, "k.npy");
          }).starts_with("k.npy: no factor is written '"));
}

TEST_CASE("factor: products are exact or refused with the bits that they need") {
  const Array bytes = array_of<std::int8_t>({-128, 0, 127, 3}, Dtype::int8);
  const Array scaled = multiplied(bytes, parse_factor("0.0173f", "k"), "k");
  CHECK(scaled.dtype() == Dtype::float64);
  CHECK(scaled.at(0) == -128 * static_cast<double>(0.0173f));
  CHECK(scaled.at(1) == 0);
  CHECK(scaled.at(2) == 127 * static_cast<double>(0.0173f));
  // 0.0173 = 4986626706390341 * 2^-58, of 53 bits; times 127, which is 2^7 - 1, 60.
  CHECK(error_in(bytes, "0.0173") ==
        "k.npy: int8 127 at [2] times '0.0173' needs 60 bits, float64 has 53");
  CHECK(
      multiplied(array_of<std::int16_t>({-32768, 1}, Dtype::int16), parse_factor("2^-11", "k"), "k")
          .at(0) == -16);
  CHECK(multiplied(bytes, parse_factor("0", "k"), "k").at(0) == 0);
}

TEST_CASE("factor: products beyond the exponents of float64 are refused") {
  const Array numbers = array_of<double>({1, 0x1p-1000}, Dtype::float64);
  CHECK(error_in(numbers, "2^-74").empty());
  CHECK(error_in(numbers, "2^-75") ==
        "k.npy: float64 9.332636185032189e-302 at [1] times '2^-75' has a bit of 2^-1075, float64 "
        "ends "
        "at 2^-1074");
  CHECK(error_in(array_of<double>({2}, Dtype::float64), "2^1023") ==
        "k.npy: float64 2 at [0] times '2^1023' is too large for float64");
  const Array special = array_of<double>({HUGE_VAL, std::nan("")}, Dtype::float64);
  CHECK(multiplied(special, parse_factor("0.1", "k"), "k").at(0) == HUGE_VAL);
}
