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

TEST_CASE("pattern: a diagonal, of one head or of all") {
  const auto diagonal = [](Index rows, Index columns, Index shift) {
    return pattern(Shape({rows, columns}), [=](Index, Index t, Index d) { return d == t + shift; });
  };
  CHECK(diagonal(9, 9, 0) == "the diagonal");
  CHECK(diagonal(9, 20, 3) == "the diagonal where column = row + 3");
  CHECK(diagonal(20, 9, -4) == "the diagonal where column = row - 4");
  CHECK(diagonal(20, 9, 6) == "the diagonal where column = row + 6");
  CHECK(diagonal(3, 3, 0) == "the diagonal");
  CHECK(diagonal(2, 2, 0) == "scattered, 50 %");  // two places are always on one
  CHECK(pattern(Shape({3, 9, 9}), [](Index head, Index t, Index d) {
          return head == 1 && d == t;
        }) == "index 1 of axis 0, the diagonal");
}

TEST_CASE("pattern: nine tenths of a diagonal must be marked") {
  const auto without = [](Index missing) {
    return pattern(Shape({11, 11}),
                   [=](Index, Index t, Index d) { return d == t && (t < 5 || t >= 5 + missing); });
  };
  CHECK(without(1) == "the diagonal");
  CHECK(without(2) == "scattered, 7 %");
}

TEST_CASE("pattern: what reaches all rows and columns and fills little of them is scattered") {
  CHECK(pattern(Shape({20, 20}), [](Index, Index t, Index d) { return (7 * t + d) % 20 == 0; }) ==
        "scattered, 5 %");
  CHECK(pattern(Shape({200, 200}), [](Index, Index t, Index d) {
          return (7 * t + d) % 200 == 0;
        }) == "scattered, less than 1 %");
  CHECK(pattern(Shape({30, 20}), [](Index, Index t, Index d) {
          return t >= 20 && t < 28 && (7 * t + d) % 4 == 0;
        }) == "rows 20 to 27, scattered, 25 %");
  // Few places in many rows: the rows by themselves say nothing.
  CHECK(pattern(Shape({40, 40}), [](Index, Index t, Index d) {
          return (t == 1 || t == 2 || t == 9 || t == 11 || t == 20) && d == 7 * t % 40;
        }) == "scattered, less than 1 %");
}

TEST_CASE("pattern: nine tenths of the values must be marked for a pattern to be all") {
  const auto marked = [](Index count) {
    return pattern(Shape({4, 5}), [=](Index, Index t, Index d) { return 5 * t + d < count; });
  };
  CHECK(marked(18) == "everywhere");
  CHECK(marked(17) == "scattered, 85 %");
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

TEST_CASE("pattern: nine tenths of a run, of a progression and of tails must be marked") {
  const auto run = [](Index missing) {  // of 11
    return row_pattern(30,
                       [=](Index t) { return t >= 9 && t < 20 && (t < 14 || t >= 14 + missing); });
  };
  CHECK(run(1) == "rows 9 to 19");
  CHECK(run(2) == "9 of 30 rows from 9 to 19");
  const auto progression = [](Index missing) {
    return row_pattern(32,
                       [=](Index t) { return t % 3 == 1 && (t < 10 || t >= 10 + 3 * missing); });
  };
  CHECK(progression(1) == "every 3rd row from row 1 on");
  CHECK(progression(2) == "9 of 32 rows from 1 to 31");
  const auto tails = [](Index missing) {  // of 22
    return row_pattern(32, [=](Index t) { return t % 16 >= 5 && (t < 22 || t >= 22 + missing); });
  };
  CHECK(tails(2) == "the last 11 rows of every block of 16");
  CHECK(tails(3) == "19 of 32 rows from 5 to 31");
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
