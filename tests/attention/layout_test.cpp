#include "attention/layout.h"

#include "catch.h"

#include <vector>

using namespace sdpa;

namespace {

/// 0, 1, 2, ...
Array counting(std::vector<Index> extents) {
  Array array(Shape(std::move(extents)), Dtype::float64);
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    const auto value = static_cast<double>(i);
    store_rounded(&value, 1, Dtype::float64, array.mutable_data() + 8 * i);
  }
  return array;
}

}  // namespace

TEST_CASE("layout: heads before T") {
  const HeadMatrices a(counting({2, 3, 4, 5}), AxisOrder::htd, 0);  // batch 2, H 3, T 4, d 5
  CHECK(std::vector<Index>(a.batch().begin(), a.batch().end()) == std::vector<Index>{2});
  CHECK(a.heads() == 3);
  CHECK(a.rows() == 4);
  CHECK(a.columns() == 5);
  CHECK(a.matrix(a.batch(), 1, 2).at(3, 4) == ((1 * 3 + 2) * 4 + 3) * 5 + 4);
}

TEST_CASE("layout: heads behind T") {
  const HeadMatrices a(counting({2, 4, 3, 5}), AxisOrder::thd, 0);
  CHECK(a.heads() == 3);
  CHECK(a.rows() == 4);
  CHECK(a.matrix(a.batch(), 1, 2).at(3, 4) == ((1 * 4 + 3) * 3 + 2) * 5 + 4);
}

TEST_CASE("layout: heads within the last axis") {
  const HeadMatrices a(counting({2, 4, 15}), AxisOrder::htd, 3);
  CHECK(a.heads() == 3);
  CHECK(a.rows() == 4);
  CHECK(a.columns() == 5);
  CHECK(a.matrix(a.batch(), 1, 2).at(3, 4) == ((1 * 4 + 3) * 3 + 2) * 5 + 4);
}

TEST_CASE("layout: two axes are one head, three have no batch") {
  const HeadMatrices one(counting({4, 5}), AxisOrder::thd, 0);
  CHECK(one.heads() == 1);
  CHECK(one.rows() == 4);
  CHECK(one.matrix({}, 0, 0).at(3, 4) == 19);
  const HeadMatrices three(counting({4, 3, 5}), AxisOrder::thd, 0);
  CHECK(three.batch().empty());
  CHECK(three.heads() == 3);
}

TEST_CASE("layout: entries of the batch share an extent of 1 or one that is absent") {
  const std::vector<Index> batch{2, 3};
  const HeadMatrices all(counting({2, 3, 1, 1, 1}), AxisOrder::htd, 0);
  const HeadMatrices inner(counting({3, 1, 1, 1}), AxisOrder::htd, 0);
  const HeadMatrices outer(counting({2, 1, 1, 1, 1}), AxisOrder::htd, 0);
  const HeadMatrices none(counting({1, 1}), AxisOrder::htd, 0);
  for (Index b = 0; b < 6; ++b) {
    CHECK(all.matrix(batch, b, 0).at(0, 0) == static_cast<double>(b));
    CHECK(inner.matrix(batch, b, 0).at(0, 0) == static_cast<double>(b % 3));
    CHECK(outer.matrix(batch, b, 0).at(0, 0) == static_cast<double>(b / 3));
    CHECK(none.matrix(batch, b, 0).at(0, 0) == 0);
  }
}
