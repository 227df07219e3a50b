#include "io/decimal.h"

#include "array/float_format.h"
#include "catch.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

using namespace sdpa;

namespace {

double nearest(std::string_view word, Dtype dtype) {
  return nearest_to_decimal(word, dtype).value();
}

/// All digits of a double.
std::string digits_of(double value) {
  char text[1200];
  std::snprintf(text, sizeof text, "%.1100f", value);
  return text;
}

}  // namespace

TEST_CASE("decimal: what is a number") {
  CHECK(nearest("1", Dtype::float64) == 1);
  CHECK(nearest("+.5e+1", Dtype::float64) == 5);
  CHECK(nearest("-3.", Dtype::float64) == -3);
  CHECK(std::isnan(nearest("NaN", Dtype::float16)));
  CHECK(nearest("-inf", Dtype::float32) == -HUGE_VAL);
  CHECK(nearest("Infinity", Dtype::float64) == HUGE_VAL);
  CHECK(std::signbit(nearest("-0.0", Dtype::float16)));
  for (const char* word :
       {"", "+", "+-1", "++1", "1,5", "1.5.2", "0x10", "1e", "e5", "abc", "1f", " 1"})
    CHECK_FALSE(nearest_to_decimal(word, Dtype::float64).has_value());
}

TEST_CASE("decimal: far beyond the range of float64") {
  CHECK(nearest("1e400", Dtype::float64) == HUGE_VAL);
  CHECK(nearest("-1e400", Dtype::float16) == -HUGE_VAL);
  CHECK(nearest("1e-400", Dtype::float64) == 0);
  CHECK(std::signbit(nearest("-1e-400", Dtype::float32)));
  CHECK(nearest("1e99999999999999999999", Dtype::float64) == HUGE_VAL);
  CHECK(nearest("1e-99999999999999999999", Dtype::float64) == 0);
  CHECK(nearest("0." + std::string(500, '0') + "1e600", Dtype::float64) == 1e99);
  CHECK(nearest("1" + std::string(500, '0') + "e-500", Dtype::float32) == 1);
}

TEST_CASE(
    "decimal: the middle between any two neighbours of a short type, and what is just beside it") {
  for (const Dtype dtype :
       {Dtype::float16, Dtype::bfloat16, Dtype::float8_e4m3fn, Dtype::float8_e5m2}) {
    const std::uint64_t infinity = float_format(dtype).infinity();
    for (std::uint64_t bits = 0; bits + 1 < infinity; bits += dtype == Dtype::bfloat16 ? 37 : 1) {
      const double below = from_bits(bits, dtype), above = from_bits(bits + 1, dtype);
      const std::string middle = digits_of(below / 2 + above / 2);
      INFO(middle);
      REQUIRE(nearest(middle, dtype) == (bits % 2 == 0 ? below : above));
      REQUIRE(nearest(middle + "1", dtype) == above);
      REQUIRE(nearest("-" + middle + "1", dtype) == -above);
      std::string less = middle;  // by one unit of the last digit
      const std::size_t at = less.find_last_not_of("0.");
      less[at] = static_cast<char>(less[at] - 1);
      for (std::size_t i = at + 1; i < less.size(); ++i)
        if (less[i] == '0') less[i] = '9';
      REQUIRE(nearest(less, dtype) == below);
    }
    // From the largest number on, the middle to where the next would be.
    const double largest = from_bits(infinity - 1, dtype);
    const double step = largest - from_bits(infinity - 2, dtype);
    const std::string limit = digits_of(largest + step / 2);
    const bool is_even = infinity % 2 == 1;
    CHECK(nearest(limit, dtype) == (is_even ? largest : HUGE_VAL));
    CHECK(nearest(limit + "1", dtype) == HUGE_VAL);
    CHECK(nearest(digits_of(std::nextafter(largest + step / 2, 0.0)), dtype) == largest);
  }
}

TEST_CASE("decimal: float32 is what one conversion gives") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random() % 0x7F000000U);
    const double below = from_bits(bits, Dtype::float32),
                 above = from_bits(bits + 1, Dtype::float32);
    std::string word = digits_of(below / 2 + above / 2);
    if (i % 3 == 1) word += "1";
    if (i % 3 == 2) word = std::to_string(static_cast<double>(random() % 1000003) / 997);
    float expected = 0;
    const auto error = std::from_chars(word.data(), word.data() + word.size(), expected).ec;
    INFO(word);
    if (error == std::errc())
      REQUIRE(nearest(word, Dtype::float32) == static_cast<double>(expected));
  }
}
