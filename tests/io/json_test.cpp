#include "io/json.h"

#include "catch.h"
#include "io/case.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <clocale>
#include <cmath>
#include <random>

using namespace sdpa;

namespace {

std::string error_in(std::string_view text) {
  return error_of([&] { read_json(bytes_of(text).bytes, "k.json"); });
}

std::string case_error_in(std::string_view text) {
  return error_of([&] { case_from(*open_json(bytes_of(text).bytes, "c.json"), {}, "c.json"); });
}

double number(const std::string& text) {
  return read_json(bytes_of("[" + text + "]").bytes, "k.json").at(0);
}

}  // namespace

TEST_CASE("json: each number becomes the nearest double, ties to even") {
  CHECK(number("9223372036854775807") == 0x1p63);
  CHECK(number("18446744073709551615") == 0x1p64);
  CHECK(number("-9223372036854775808") == -0x1p63);
  CHECK(number("9007199254740993") == 0x1p53);      // a tie
  CHECK(number("9007199254740995") == 0x1p53 + 4);  // a tie
  CHECK(number("9007199254740993." + std::string(800, '0') + "1") == 0x1p53 + 2);
  CHECK(number("18446744073709553665") == 0x1p64 + 4096);  // beyond 64 bits, above a tie
  CHECK(number("1e-400") == 0);
  CHECK(std::signbit(number("-0")));
  CHECK(std::signbit(number("-0.0e5")));
  CHECK(number("1" + std::string(400, '0') + "e-400") == 1);
}

TEST_CASE("json: the shortest text of random doubles reads back to the same bits") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 10'000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    REQUIRE(std::bit_cast<std::uint64_t>(number(shortest_text(value, Dtype::float64))) ==
            std::bit_cast<std::uint64_t>(value));
  }
}

TEST_CASE("json: errors of syntax say line and column") {
  CHECK(error_in("[[1, 2],\n [3, NaN]]") == "k.json: line 2, column 6: 'NaN' is not JSON here");
  CHECK(error_in("[[1, 2],\n [3, 4]") == "k.json: line 2, column 8: the text ends too early");
  CHECK(error_in("[1] x") == "k.json: line 1, column 5: 'x' is not JSON here");
  CHECK(error_in("[1,\x1b[31m]") == "k.json: line 1, column 4: '\\x1b' is not JSON here");
  CHECK(error_in(std::string_view("[1]\0[2]", 7)) ==
        "k.json: byte 3 is 0, which no JSON in UTF-8 holds");
}

TEST_CASE("json: elements that are no numbers are named with their index") {
  CHECK(error_in("[[1, null]]") == "k.json: null stands at [0, 1], where a number should be");
  CHECK(error_in("[[1], [true]]") == "k.json: true stands at [1, 0], where a number should be");
  CHECK(error_in("[\"a\\nb\"]") ==
        "k.json: the text 'a\\x0ab' stands at [0], where a number should be");
  CHECK(error_in("[{\"a\": 1}]") == "k.json: an object stands at [0], where a number should be");
  CHECK(error_in("[[1], [1e309]]") ==
        "k.json: the number '1e309' at [1, 0] is too large for float64");
}

TEST_CASE("json: true and false are an array of truth values, or stand alone in a case file") {
  const Array mask = read_json(bytes_of("[[true, false], [true, true]]").bytes, "k.json");
  CHECK(mask.dtype() == Dtype::boolean);
  CHECK(mask.shape() == Shape({2, 2}));
  CHECK(mask.at(0) == 1);
  CHECK(mask.at(1) == 0);
  CHECK(error_in("[true, 1]") == "k.json: holds numbers and truth values in one array");
  CHECK(error_in("true") != "");
}

TEST_CASE("json: depth is bounded, of arrays and of objects") {
  CHECK(error_in(std::string(100'000, '[')) == "k.json: lists are nested deeper than 32 axes");
  std::string objects;
  for (int i = 0; i < 50'000; ++i) objects += "{\"q\":";
  CHECK(error_in(objects) == "k.json: an object stands where an array should be");
  CHECK(case_error_in(objects) == "c.json: line 1, column 250001: the text ends too early");
}

TEST_CASE("json: members of an object may be anything, and are judged when they are asked for") {
  const auto file = open_json(
      bytes_of(
          R"({"a": [[1, 2]], "b": {"c": [1, {"d": 2}], "a": 0}, "e": "text", "f": 2.5, "g": true,
                   "h": [[1], 2], "i": null, "j": ["x", [3]], "l": [true, false], "m": []})")
          .bytes,
      "c.json");
  REQUIRE(file->names() ==
          std::vector<std::string>{"a", "b", "e", "f", "g", "h", "i", "j", "l", "m"});
  CHECK(file->read(0).array->at(1) == 2);
  CHECK(error_of([&] { file->read(1); }) == "c.json: b: an object stands where an array should be");
  CHECK(file->read(2).text == "text");
  CHECK(file->read(3).array->at(0) == 2.5);
  CHECK(file->read(3).array->shape() == Shape(std::vector<Index>{}));
  CHECK(file->read(4).array->dtype() == Dtype::boolean);
  CHECK(error_of([&] { file->read(5); }) ==
        "c.json: h: a number stands at [1], where lists are before it");
  CHECK(error_of([&] { file->read(6); }) == "c.json: i: null stands where an array should be");
  CHECK(error_of([&] { file->read(7); }) ==
        "c.json: j: the text 'x' stands at [0], where a number should be");
  CHECK(file->read(8).array->dtype() == Dtype::boolean);
  CHECK(file->read(9).array->shape() == Shape({0}));
}

TEST_CASE("json: operands must be arrays, and no name is there twice") {
  CHECK(case_error_in(R"({"q": [1], "k": [1]})") ==
        "c.json: member 'v' is missing; there are 'q' and 'k'");
  CHECK(case_error_in("{}") == "c.json: member 'q' is missing; there are none");
  CHECK(case_error_in(R"({"q": [1], "q": [1]})") == "c.json: q: is given twice");
  CHECK(case_error_in(R"({"q": [1, 1e999]})") ==
        "c.json: q: the number '1e999' at [1] is too large for float64");
  CHECK(case_error_in(R"({"q": 1})") == "c.json: q: a number stands where an array should be");
  CHECK(case_error_in(R"({"q": "x"})") ==
        "c.json: q: the text 'x' stands where an array should be");
}

TEST_CASE("json: numbers are rounded once to the type that is said") {
  const auto as = [](const std::string& text, Dtype dtype) {
    return read_json(bytes_of("[" + text + "]").bytes, "k.json", dtype).at(0);
  };
  // Just above the middle between 1 and its neighbour, by less than float64 shows.
  CHECK(as("1.00000005960464477539062500001", Dtype::float32) == 1 + 0x1p-23);
  CHECK(as("1.00048828125000000000000000001", Dtype::float16) == 1 + 0x1p-10);
  CHECK(as("1.00390625", Dtype::bfloat16) == 1);
  CHECK(as("18446744073709551615", Dtype::float32) == 0x1p64);
  CHECK(as("36028799166447617", Dtype::float32) == 0x1p55 + 0x1p32);  // 2^55 + 2^31 + 1
  CHECK(std::signbit(as("-0", Dtype::float16)));
  CHECK(error_of([&] { as("65520", Dtype::float16); }) ==
        "k.json: the number '65520' at [0] is too large for float16");
}
