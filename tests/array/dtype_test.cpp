#include "array/dtype.h"

#include "array/float16.h"
#include "catch.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace sdpa;

namespace {

const std::vector<Dtype> kAll = all_dtypes();

/// Digits of a decimal number without leading and trailing zeros: 3 for "0.0120", "-655e+02".
int significant_digits(const std::string& text) {
  std::string digits;
  for (char c : text.substr(0, text.find('e')))
    if (c >= '0' && c <= '9' && (c != '0' || !digits.empty())) digits += c;
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return static_cast<int>(digits.size());
}

/// The decimals of `digits` significant digits next to a positive value, below (or equal) and
/// above. No other decimal of so few digits can lie in an interval around the value unless one of
/// these does.
struct Neighbours {
  double below, above;
};
Neighbours decimals_next_to(double value, int digits) {
  char exact[400];
  std::snprintf(exact, sizeof exact, "%.160e", value);  // a 16-bit float has fewer than 160 digits
  std::string text(1, exact[0]);
  text.append(exact + 2, static_cast<std::size_t>(digits - 1));
  const int number = std::atoi(text.c_str());
  const int exponent = std::atoi(std::strchr(exact, 'e') + 1) - (digits - 1);
  const auto decimal = [exponent](int leading) {
    char short_text[40];
    std::snprintf(short_text, sizeof short_text, "%de%d", leading, exponent);
    return std::strtod(short_text, nullptr);
  };
  return {decimal(number), decimal(number + 1)};
}

template <class Widen, class Narrow>
void check_every_text(Dtype dtype, Widen widen, Narrow narrow) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double value = widen(half);
    if (!std::isfinite(value)) continue;
    const std::string text = shortest_text(value, dtype);
    INFO("bits " << bits << ", text " << text);
    REQUIRE(narrow(std::strtod(text.c_str(), nullptr)) == half);
    const int digits = significant_digits(text);
    if (digits <= 1) continue;
    const Neighbours shorter = decimals_next_to(std::fabs(value), digits - 1);
    REQUIRE(narrow(std::copysign(shorter.below, value)) != half);
    REQUIRE(narrow(std::copysign(shorter.above, value)) != half);
  }
}

}  // namespace

TEST_CASE("dtype: sizes and kinds") {
  CHECK(size_bytes(Dtype::float16) == 2);
  CHECK(size_bytes(Dtype::bfloat16) == 2);
  CHECK(size_bytes(Dtype::float32) == 4);
  CHECK(size_bytes(Dtype::float64) == 8);
  CHECK(size_bytes(Dtype::uint8) == 1);
  CHECK(size_bytes(Dtype::int64) == 8);
  CHECK(is_float(Dtype::bfloat16));
  CHECK_FALSE(is_float(Dtype::int32));
}

TEST_CASE("dtype: every name reads back") {
  CHECK(kAll.size() == 15);
  for (Dtype dtype : kAll) CHECK(parse_dtype(name(dtype)) == dtype);
  CHECK(name(Dtype::bfloat16) == "bfloat16");
}

TEST_CASE("dtype: types have short names, other words none") {
  for (const char* word : {"f16", "fp16", "half"}) CHECK(parse_dtype(word) == Dtype::float16);
  CHECK(parse_dtype("bf16") == Dtype::bfloat16);
  for (const char* word : {"f32", "fp32", "float", "single"})
    CHECK(parse_dtype(word) == Dtype::float32);
  for (const char* word : {"f64", "fp64", "double"}) CHECK(parse_dtype(word) == Dtype::float64);
  for (const char* word : {"F32", "Float32", "FP32"}) CHECK(parse_dtype(word) == Dtype::float32);
  for (const char* word : {"e4m3", "E4M3FN", "fp8_e4m3", "F8_E4M3", "float8_e4m3"})
    CHECK(parse_dtype(word) == Dtype::float8_e4m3fn);
  for (const char* word : {"e5m2", "F8_E5M2", "float8_e5m2"})
    CHECK(parse_dtype(word) == Dtype::float8_e5m2);
  CHECK(parse_dtype("u16") == Dtype::uint16);
  CHECK(parse_dtype("i64") == Dtype::int64);
  CHECK(parse_dtype("boolean") == Dtype::boolean);
  for (const char* word : {"", "f8", "float32 ", "i8", "u8", "i4", "fp8", "float8"})
    CHECK_FALSE(parse_dtype(word).has_value());
}

TEST_CASE("dtype: result_type is numpy's, integers counting as float64") {
  using enum Dtype;
  CHECK(result_type(float16, float16) == float16);
  CHECK(result_type(bfloat16, bfloat16) == bfloat16);
  CHECK(result_type(float16, float32) == float32);
  CHECK(result_type(float16, bfloat16) == float32);
  CHECK(result_type(bfloat16, float32) == float32);
  CHECK(result_type(float32, float64) == float64);
  CHECK(result_type(bfloat16, float64) == float64);
  CHECK(result_type(int8, int8) == float64);
  CHECK(result_type(float16, uint8) == float64);
  CHECK(result_type(float8_e5m2, float8_e5m2) == float8_e5m2);
  CHECK(result_type(float8_e5m2, float8_e4m3fn) == float16);
  CHECK(result_type(float8_e5m2, bfloat16) == bfloat16);
  CHECK(result_type(float16, float8_e4m3fn) == float16);
  CHECK(result_type(float8_e4m3fn, float32) == float32);
  for (Dtype a : kAll)
    for (Dtype b : kAll) CHECK(result_type(a, b) == result_type(b, a));
}

TEST_CASE("dtype: texts of known values") {
  CHECK(shortest_text(static_cast<double>(0.1f), Dtype::float32) == "0.1");
  CHECK(shortest_text(0.1, Dtype::float64) == "0.1");
  CHECK(shortest_text(float16_to_double(0x2E66), Dtype::float16) == "0.1");
  CHECK(shortest_text(bfloat16_to_double(0x3DCD), Dtype::bfloat16) == "0.1");
  CHECK(shortest_text(65504, Dtype::float16) == "65500");
  CHECK(shortest_text(HUGE_VAL, Dtype::float16) == "inf");
  CHECK(shortest_text(std::nan(""), Dtype::bfloat16) == "nan");
}

TEST_CASE("dtype: every float16's text reads back to it, and no shorter one does") {
  check_every_text(Dtype::float16, float16_to_double, double_to_float16);
}

TEST_CASE("dtype: every bfloat16's text reads back to it, and no shorter one does") {
  check_every_text(Dtype::bfloat16, bfloat16_to_double, double_to_bfloat16);
}
