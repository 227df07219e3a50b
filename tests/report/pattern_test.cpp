#include "report/pattern.h"

#include "catch.h"

using namespace sdpa;

namespace {

/// The pattern of all elements of a shape whose index is `chosen`.
template <class Chosen>
std::string pattern(const Shape& shape, Chosen chosen) {
  Pattern found(shape);
  const Index columns = shape.from_end(1), rows = shape.from_end(2);
  for (Index position = 0; position < shape.element_count(); ++position)
    if (chosen(position / (rows * columns), position / columns % rows, position % columns))
      found.add(position);
  return found.text();
}

/// The same for the rows of a matrix of 40 columns.
template <class Chosen>
std::string row_pattern(Index rows, Chosen chosen) {
  return pattern(Shape({rows, 40}), [&](Index, Index t, Index) { return chosen(t); });
}

}  // namespace

TEST_CASE("pattern: nothing, one value, everything") {
  CHECK(pattern(Shape({5, 7}), [](Index, Index, Index) { return false; }) == "nowhere");
  CHECK(pattern(Shape({5, 7}), [](Index, Index t, Index d) { return t == 2 && d == 3; }) ==
        "one value");
  CHECK(pattern(Shape({5, 7}), [](Index, Index, Index) { return true; }) == "everywhere");
}

TEST_CASE("pattern: places that reach all rows and columns are everywhere") {
  CHECK(pattern(Shape({9, 9}), [](Index, Index t, Index d) { return t == d; }) == "everywhere");
}

TEST_CASE("pattern: single rows and columns") {
  CHECK(row_pattern(30, [](Index t) { return t == 5; }) == "row 5");
  CHECK(row_pattern(30, [](Index t) { return t == 5 || t == 8; }) == "rows 5, 8");
  CHECK(pattern(Shape({5, 70}), [](Index, Index, Index d) { return d == 64; }) == "column 64");
  CHECK(pattern(Shape({5, 70}), [](Index, Index t, Index d) { return t == 4 && d < 3; }) ==
        "row 4, columns 0 to 2");
}

TEST_CASE("pattern: a run of rows") {
  CHECK(row_pattern(30, [](Index t) { return t >= 4 && t < 20; }) == "rows 4 to 19");
  CHECK(row_pattern(130, [](Index t) { return t < 64; }) == "rows 0 to 63");
  CHECK(row_pattern(30, [](Index t) { return t >= 7; }) == "from row 7 on");
}

TEST_CASE("pattern: a run may have a few rows that are right by chance") {
  CHECK(row_pattern(130, [](Index t) { return t >= 50 && t != 77 && t != 101; }) ==
        "from row 50 on");
}

TEST_CASE("pattern: rows after the last full block") {
  CHECK(row_pattern(130, [](Index t) { return t >= 128; }) ==
        "from row 128 on (after the last full block of 128)");
  CHECK(row_pattern(100, [](Index t) { return t >= 96; }) ==
        "from row 96 on (after the last full block of 32)");
  CHECK(row_pattern(49, [](Index t) { return t == 48; }) ==
        "row 48 (after the last full block of 16)");
}

TEST_CASE("pattern: every n-th row") {
  CHECK(row_pattern(30, [](Index t) { return t % 4 == 1; }) == "every 4th row from row 1 on");
  CHECK(row_pattern(30, [](Index t) { return t % 2 == 0; }) == "every 2nd row from row 0 on");
}

TEST_CASE("pattern: the tails of all blocks") {
  CHECK(row_pattern(128, [](Index t) { return t % 64 >= 56; }) ==
        "the last 8 rows of every block of 64");
  CHECK(row_pattern(80, [](Index t) { return t % 16 >= 13; }) ==
        "the last 3 rows of every block of 16");
}

TEST_CASE("pattern: rows without a pattern are counted") {
  CHECK(row_pattern(30, [](Index t) { return t == 1 || t == 2 || t == 9 || t == 11 || t == 20; }) ==
        "5 of 30 rows from 1 to 20");
}

TEST_CASE("pattern: heads are indices of the leading axes") {
  const Shape shape({2, 3, 8, 4});
  CHECK(pattern(shape, [](Index head, Index, Index) { return head == 4; }) ==
        "index 1 of axis 0, index 1 of axis 1");
  CHECK(pattern(shape, [](Index head, Index t, Index) { return head % 3 == 2 && t >= 5; }) ==
        "index 2 of axis 1, from row 5 on");
}

TEST_CASE("pattern: arrays of one axis and of none") {
  Pattern vector(Shape({10}));
  vector.add(3);
  vector.add(4);
  CHECK(vector.text() == "columns 3 to 4");
  Pattern scalar(Shape{});
  scalar.add(0);
  CHECK(scalar.text() == "one value");
}
