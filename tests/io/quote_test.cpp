#include "io/quote.h"

#include "catch.h"

using namespace sdpa;

TEST_CASE("quote: a name stays readable, but its control characters do not act") {
  CHECK(printable("d\xc3\xa9j\xc3\xa0 vu.npy") == "d\xc3\xa9j\xc3\xa0 vu.npy");
  CHECK(printable(std::string_view("a\n\x1b[31m\x7f\0b", 10)) == "a\\x0a\\x1b[31m\\x7f\\x00b");
}

TEST_CASE("quote: words out of a file are ASCII and not long") {
  CHECK(in_quotes("<f4") == "'<f4'");
  CHECK(in_quotes("\xc3\xa9\t") == "'\\xc3\\xa9\\x09'");
  CHECK(in_quotes(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}
