#include "report/block_map.h"

#include "catch.h"

using namespace sdpa;
using Lines = std::vector<std::string>;

TEST_CASE("block map: small matrices show each element") {
  BlockMap map(Shape({2, 2, 3}));
  map.add(6 + 1);
  map.add(6 + 5);
  CHECK(map.lines() == Lines{"head 1, blocks of 1 x 1", ".#.", "..#"});
}

TEST_CASE("block map: at most 16 x 16 blocks, which may be marked in part") {
  BlockMap map(Shape({33, 40}));
  CHECK(map.lines().empty());
  for (Index row = 0; row < 3; ++row)
    for (Index column = 0; column < 2; ++column) map.add(row * 40 + column);
  map.add(32 * 40 + 39);
  const Lines lines = map.lines();
  REQUIRE(lines.size() == 12);
  CHECK(lines[0] == "blocks of 3 x 3");
  CHECK(lines[1] == ":.............");
  CHECK(lines[11] == ".............:");
}

TEST_CASE(
    "block map: matrices without a mark, all marked, and those behind the fourth are left out") {
  BlockMap map(Shape({7, 1, 2}));
  map.add(0);
  map.add(1);
  for (Index matrix = 2; matrix < 7; ++matrix) map.add(2 * matrix);
  const Lines lines = map.lines();
  REQUIRE(lines.size() == 9);
  CHECK(lines[0] == "head 2, blocks of 1 x 1");
  CHECK(lines[1] == "#.");
  CHECK(lines[8] == "and 1 more heads");
}
