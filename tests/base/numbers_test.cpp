#include "base/numbers.h"

#include "catch.h"

#include <cmath>
#include <limits>

using namespace sdpa;

TEST_CASE("numbers: the shortest text is that of the value's own type") {
  CHECK(shortest_text(0.1f) == "0.1");
  CHECK(shortest_text(0.1) == "0.1");
  CHECK(shortest_text(static_cast<double>(0.1f)) == "0.10000000149011612");
  CHECK(shortest_text(1.0 / 3) == "0.3333333333333333");
  CHECK(shortest_text(1.0f / 3) == "0.33333334");
  CHECK(shortest_text(5e-324) == "5e-324");
  CHECK(shortest_text(-2.0) == "-2");
  CHECK(shortest_text(0.0) == "0");
}

TEST_CASE("numbers: what is not finite has a word") {
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(shortest_text(inf) == "inf");
  CHECK(shortest_text(-inf) == "-inf");
  CHECK(shortest_text(std::nan("")) == "nan");
  CHECK(shortest_text(-std::nan("")) == "nan");
  CHECK(shortest_text(std::nanf("")) == "nan");
}

TEST_CASE("numbers: a word that is a number is read, whole") {
  CHECK(parse_double("0.5") == 0.5);
  CHECK(parse_double("-1e-3") == -0.001);
  CHECK(parse_double("1.7976931348623157e308") == std::numeric_limits<double>::max());
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<long long>::min());
  CHECK(parse_integer("128") == 128);
}

TEST_CASE("numbers: a word that is not wholly a number, or does not fit, is nothing") {
  for (const char* word : {"", " ", "abc", "1x", "1 ", " 1", "0,5", "1e999", "--1", "0x10"}) {
    INFO("'" << word << "'");
    CHECK_FALSE(parse_double(word).has_value());
  }
  for (const char* word : {"", "1.5", "1e3", "9223372036854775808", "12a", " 12", "+1"}) {
    INFO("'" << word << "'");
    CHECK_FALSE(parse_integer(word).has_value());
  }
}
