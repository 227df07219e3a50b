#include "io/nested_lists.h"

#include "catch.h"
#include "io/error_of.h"

using namespace sdpa;

namespace {

/// The shape of lists written with brackets and 1 for a number, as "[[1 1][1 1]]".
Shape shape_of(std::string_view text) {
  NestedLists lists("k");
  for (const char character : text) {
    if (character == '[') lists.open();
    if (character == ']') lists.close();
    if (character == '1') lists.number();
  }
  REQUIRE(!lists.is_open());
  return lists.shape();
}

std::string error_in(std::string_view text) {
  return error_of([&] { shape_of(text); });
}

}  // namespace

TEST_CASE("nested lists: shapes") {
  CHECK(shape_of("[1]") == Shape({1}));
  CHECK(shape_of("[[1 1 1][1 1 1]]") == Shape({2, 3}));
  CHECK(shape_of("[[[1]][[1]][[1]]]") == Shape({3, 1, 1}));
}

TEST_CASE("nested lists: lists of different lengths are named, with both") {
  CHECK(error_in("[[1 1][1 1][1 1 1]]") == "k: list [2] has 3 elements, those before it have 2");
  CHECK(error_in("[[[1][1]][[1][1 1]]]") ==
        "k: list [1, 1] has 2 elements, those before it have 1");
  CHECK(error_in("[[[1][1]][[1]]]") == "k: list [1] has 1 elements, those before it have 2");
}

TEST_CASE("nested lists: numbers at different depths are named") {
  CHECK(error_in("[[1 1][1 [1]]]") == "k: a list stands at [1, 1], where a number should be");
  CHECK(error_in("[[1 1] 1]") == "k: a number stands at [1], where lists are before it");
  CHECK(error_in("1") == "k: a number stands where an array should be");
}

TEST_CASE("nested lists: empty ones show as many axes as there are brackets") {
  CHECK(shape_of("[]") == Shape({0}));
  CHECK(shape_of("[[]]") == Shape({1, 0}));
  CHECK(shape_of("[[][]]") == Shape({2, 0}));
  CHECK(shape_of("[[[]]]") == Shape({1, 1, 0}));
  CHECK(shape_of("[[[][]][[][]][[][]]]") == Shape({3, 2, 0}));
}

TEST_CASE("nested lists: empty ones beside others are named") {
  CHECK(error_in("[[1][]]") == "k: list [1] has 0 elements, those before it have 1");
  CHECK(error_in("[[][1]]") == "k: list [1] has 1 elements, those before it have 0");
  CHECK(error_in("[[]1]") == "k: a number stands at [1], where lists are before it");
  CHECK(error_in("[1[]]") == "k: a list stands at [1], where a number should be");
  CHECK(error_in("[[][[]]]") == "k: a list stands at [1, 0], where a number should be");
  CHECK(error_in("[[[]][]]") == "k: list [1] has 0 elements, those before it have 1");
  CHECK(error_in("[[[]][[][]]]") == "k: list [1] has 2 elements, those before it have 1");
}

TEST_CASE("nested lists: 32 axes are the most") {
  CHECK(shape_of(std::string(32, '[') + "1" + std::string(32, ']')).rank() == 32);
  CHECK(error_in(std::string(33, '[')) == "k: lists are nested deeper than 32 axes");
}
