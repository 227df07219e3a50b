#include "array/view.h"

#include "catch.h"

#include <limits>
#include <vector>

using namespace sdpa;

namespace {

/// 0, 1, 2, ...
Array counting(std::vector<Index> extents) {
  Array array(Shape(std::move(extents)), Dtype::float32);
  std::vector<float> values(static_cast<std::size_t>(array.shape().element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  store_rounded(values.data(), std::ssize(values), Dtype::float32, array.mutable_data());
  return array;
}

}  // namespace

TEST_CASE("view: an array of two axes is its own view") {
  const MatrixView view = counting({3, 4});
  CHECK(view.rows() == 3);
  CHECK(view.columns() == 4);
  CHECK(view.dtype() == Dtype::float32);
  CHECK(view.rows_adjoin());
  CHECK(view.at(2, 1) == 9);
  std::vector<float> rows(8);
  view.read_rows(1, 2, rows.data());
  CHECK(rows == std::vector<float>{4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("view: head 1 of (T, H, d) is rows with gaps") {
  // T = 4, H = 3, d = 2
  const MatrixView head(counting({4, 3, 2}), 2, 4, 2, 6);
  CHECK_FALSE(head.rows_adjoin());
  CHECK(head.at(3, 1) == 21);
  CHECK(*reinterpret_cast<const float*>(head.row(2)) == 14);
  std::vector<double> rows(6);
  head.read_rows(1, 3, rows.data());
  CHECK(rows == std::vector<double>{8, 9, 14, 15, 20, 21});
  std::vector<double> column(4);
  head.read_column(1, column.data());
  CHECK(column == std::vector<double>{3, 9, 15, 21});
}

TEST_CASE("view: a part begins at its first row") {
  const MatrixView part = MatrixView(counting({4, 3, 2}), 2, 4, 2, 6).part(1, 2);
  CHECK(part.rows() == 2);
  CHECK(part.at(0, 0) == 8);
  CHECK(part.at(1, 1) == 15);
  CHECK(part.part(1, 1).rows_adjoin());
}

TEST_CASE("view: as an array, in place only where rows adjoin") {
  const Array thd = counting({4, 3, 2});
  const Array copy = MatrixView(thd, 2, 4, 2, 6).array();
  CHECK(copy.shape() == Shape({4, 2}));
  CHECK(copy.at(5) == 15);
  const Array same = MatrixView(thd, 6, 4, 2, 2).array();
  CHECK(same.shape() == Shape({4, 2}));
  CHECK(static_cast<const void*>(same.data()) == thd.data() + 6 * sizeof(float));
}

TEST_CASE("view: only what lies in its rows decides whether they are finite") {
  Array array = counting({4, 3, 2});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  store_rounded(&nan, 1, Dtype::float32, array.mutable_data() + 14 * sizeof(float));
  const MatrixView with(array, 2, 4, 2, 6), beside(array, 4, 4, 2, 6);
  CHECK(beside.rows_finite(0, 4));
  CHECK_FALSE(with.rows_finite(0, 4));
  CHECK(with.rows_finite(0, 2));
  CHECK(with.rows_finite(3, 1));
  CHECK_FALSE(MatrixView(array.rows(0, 4).matrix(2)).rows_finite(0, 3));
}
