#include "attention/problem.h"

#include "base/error.h"
#include "catch.h"

using namespace sdpa;

namespace {

Array zeros(std::vector<Index> extents) {
  return Array(Shape(std::move(extents)), Dtype::float32);
}

std::string message(const Array& q, const Array& k, const Array& v, const OperandNames& names = {},
                    const Layout& layout = {}) {
  try {
    check_shapes(q, k, v, layout, names);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("problem: the extents of one head") {
  const Problem problem = check_shapes(zeros({2, 3}), zeros({5, 3}), zeros({5, 7}));
  CHECK(problem.heads() == 1);
  CHECK(problem.n.T_q == 2);
  CHECK(problem.n.T_k == 5);
  CHECK(problem.n.d_k == 3);
  CHECK(problem.n.d_v == 7);
}

TEST_CASE("problem: leading extents multiply to the heads") {
  CHECK(check_shapes(zeros({4, 6, 2, 3}), zeros({4, 6, 5, 3}), zeros({4, 6, 5, 7})).heads() == 24);
  CHECK(check_shapes(zeros({0, 2, 3}), zeros({0, 5, 3}), zeros({0, 5, 7})).heads() == 0);
}

TEST_CASE("problem: no query and no feature of v are ordinary") {
  CHECK(check_shapes(zeros({0, 3}), zeros({5, 3}), zeros({5, 7})).n.T_q == 0);
  CHECK(check_shapes(zeros({2, 3}), zeros({5, 3}), zeros({5, 0})).n.d_v == 0);
}

TEST_CASE("problem: a shape that does not fit is named with both values") {
  CHECK(message(zeros({3}), zeros({5, 3}), zeros({5, 7})) ==
        "q: shape (3,) has 1 axes, attention needs at least 2");
  CHECK(message(zeros({2, 3}), zeros({}), zeros({5, 7})) ==
        "k: shape () has 0 axes, attention needs at least 2");
  CHECK(message(zeros({2, 3}), zeros({5, 3}), zeros({5})) ==
        "v: shape (5,) has 1 axes, attention needs at least 2");
  CHECK(message(zeros({2, 3}), zeros({5, 4}), zeros({5, 7})) == "k: d_k is 4, but q has d_k 3");
  CHECK(message(zeros({2, 3}), zeros({5, 3}), zeros({6, 7})) == "v: T_k is 6, but k has T_k 5");
  CHECK(message(zeros({2, 3}), zeros({0, 3}), zeros({0, 7})) ==
        "k: T_k is 0 in shape (0, 3), so there is no key to attend to");
  CHECK(message(zeros({2, 0}), zeros({5, 0}), zeros({5, 7})) ==
        "q: d_k is 0 in shape (2, 0), so 1/sqrt(d_k) is not a number");
}

TEST_CASE("problem: leading extents that differ are named with both shapes") {
  CHECK(message(zeros({4, 2, 3}), zeros({3, 5, 3}), zeros({4, 5, 7})) ==
        "k: 4 query heads of q cannot share 3 key heads");
  CHECK(message(zeros({4, 2, 3}), zeros({4, 5, 3}), zeros({4, 4, 5, 7})) ==
        "v: shape (4, 4, 5, 7) does not have the leading extents of q, shape (4, 2, 3)");
  CHECK(message(zeros({2, 4, 2, 3}), zeros({3, 4, 5, 3}), zeros({2, 4, 5, 7})) ==
        "k: shape (3, 4, 5, 3) does not have the leading extents of q, shape (2, 4, 2, 3)");
}

TEST_CASE("problem: messages call the operands by the caller's names") {
  CHECK(message(zeros({2, 3}), zeros({5, 4}), zeros({5, 7}), {"q.npy", "standard input", "v"}) ==
        "standard input: d_k is 4, but q.npy has d_k 3");
}

TEST_CASE("problem: query heads share key heads, and an extent of 1 or an absent one is shared") {
  const Array q = zeros({2, 6, 4, 3});
  CHECK(check_shapes(q, zeros({2, 3, 5, 3}), zeros({2, 3, 5, 7})).heads() == 12);
  CHECK(check_shapes(q, zeros({1, 3, 5, 3}), zeros({3, 5, 7})).heads() == 12);
  CHECK(check_shapes(q, zeros({5, 3}), zeros({2, 6, 5, 7})).heads() == 12);
  CHECK(message(q, zeros({2, 4, 5, 3}), zeros({2, 4, 5, 7})) ==
        "k: 6 query heads of q cannot share 4 key heads");
  CHECK(message(q, zeros({2, 12, 5, 3}), zeros({2, 12, 5, 7})) ==
        "k: 6 query heads of q cannot share 12 key heads");
  CHECK(message(q, zeros({2, 3, 5, 3}), zeros({2, 2, 5, 7})) == "v: has 2 heads, but k has 3");
}

TEST_CASE("problem: query head h uses key head h div (H/G)") {
  const Array k = zeros({3, 5, 2});
  const Problem problem = check_shapes(zeros({6, 4, 2}), k, zeros({3, 5, 1}));
  for (Index h = 0; h < 6; ++h) CHECK(problem.head(h).k.row(0) == k.matrix(h / 2).data());
}

TEST_CASE("problem: shapes of the results follow the layout of q") {
  const Layout thd{AxisOrder::thd, {}}, flat{AxisOrder::htd, 6};
  const Problem a = check_shapes(zeros({2, 6, 4, 3}), zeros({5, 3}), zeros({5, 7}));
  CHECK(a.output_shape() == Shape({2, 6, 4, 7}));
  CHECK(a.rows_shape(5) == Shape({2, 6, 4, 5}));
  const Problem b =
      check_shapes(zeros({2, 4, 6, 3}), zeros({2, 5, 3, 3}), zeros({2, 5, 3, 7}), thd);
  CHECK(b.output_shape() == Shape({2, 4, 6, 7}));
  CHECK(b.rows_shape(5) == Shape({2, 6, 4, 5}));
  const Problem c = check_shapes(zeros({2, 4, 18}), zeros({2, 5, 9}), zeros({2, 5, 21}), flat);
  CHECK(c.k.heads() == 3);
  CHECK(c.n.d_v == 7);
  CHECK(c.output_shape() == Shape({2, 4, 42}));
  CHECK(c.rows_shape(5) == Shape({2, 6, 4, 5}));
}

TEST_CASE("problem: a last axis that does not hold the heads") {
  const Layout flat{AxisOrder::htd, 4};
  CHECK(message(zeros({2, 18}), zeros({2, 18}), zeros({2, 18}), {}, flat) ==
        "q: the last axis of shape (2, 18) does not hold 4 heads: 4 does not divide 18");
  CHECK(message(zeros({2, 16}), zeros({2, 6}), zeros({2, 16}), {}, flat) ==
        "k: the last axis of shape (2, 6) does not hold heads of d_k 4");
  CHECK(message(zeros({2, 16}), zeros({2, 8}), zeros({2, 5}), {}, flat) ==
        "v: the last axis of shape (2, 5) does not hold 2 heads, as many as k has");
  CHECK(message(zeros({2, 16}), zeros({2, 12}), zeros({2, 12}), {}, flat) ==
        "k: 4 query heads of q cannot share 3 key heads");
}

TEST_CASE("problem: no feature or no head where heads lie side by side") {
  const Layout one{AxisOrder::htd, 1};
  CHECK(message(zeros({0, 2, 0}), zeros({0, 5, 3}), zeros({0, 5, 3}), {}, one) ==
        "q: d_k is 0 in shape (0, 2, 0), so 1/sqrt(d_k) is not a number");
  CHECK(message(zeros({2, 3}), zeros({0, 5, 3}), zeros({5, 3}), {}, one) ==
        "v: the last axis of shape (5, 3) does not hold 0 heads, as many as k has");
}
