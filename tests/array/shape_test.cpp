#include "array/shape.h"

#include "base/error.h"
#include "catch.h"

using namespace sdpa;

TEST_CASE("shape: extents are counted from both ends") {
  const Shape shape({2, 3, 4});
  CHECK(shape.rank() == 3);
  CHECK(shape[0] == 2);
  CHECK(shape[2] == 4);
  CHECK(shape.from_end(1) == 4);
  CHECK(shape.from_end(3) == 2);
}

TEST_CASE("shape: elements are the product of the extents") {
  CHECK(Shape({2, 3, 4}).element_count() == 24);
  CHECK(Shape().element_count() == 1);
  CHECK(Shape({5, 0}).element_count() == 0);
  CHECK(Shape({Index{1} << 60}).element_count() == Index{1} << 60);
}

TEST_CASE("shape: text is as numpy prints it") {
  CHECK(Shape().text() == "()");
  CHECK(Shape({4}).text() == "(4,)");
  CHECK(Shape({2, 3}).text() == "(2, 3)");
}

TEST_CASE("shape: a position becomes an index of each axis") {
  const Shape shape({2, 3, 4});
  CHECK(shape.index_text(0) == "[0, 0, 0]");
  CHECK(shape.index_text(5) == "[0, 1, 1]");
  CHECK(shape.index_text(23) == "[1, 2, 3]");
  CHECK(Shape().index_text(0) == "[]");
}

TEST_CASE("shape: equal means the same extents") {
  CHECK(Shape({2, 3}) == Shape({2, 3}));
  CHECK_FALSE(Shape({2, 3}) == Shape({3, 2}));
  CHECK_FALSE(Shape({6}) == Shape({6, 1}));
}

TEST_CASE("shape: a negative or too large shape is an error that shows it") {
  const auto message = [](std::vector<Index> extents) -> std::string {
    try {
      return Shape(std::move(extents)).text();
    } catch (const Error& error) {
      return error.what();
    }
  };
  CHECK(message({2, -1}) == "shape (2, -1) has a negative extent");
  const Index large = Index{1} << 31;
  CHECK(message({large, large}) == "shape (2147483648, 2147483648) is too large");
  CHECK(message({large, large, large}) ==
        "shape (2147483648, 2147483648, 2147483648) is too large");
  // Nothing is stored, but the extents make no sense.
  CHECK(message({0, large, large}) == "shape (0, 2147483648, 2147483648) is too large");
}
