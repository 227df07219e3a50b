#include "attention/problem.h"

#include "base/error.h"
#include "catch.h"

using namespace sdpa;

namespace {

Array zeros(std::vector<Index> extents) {
  return Array(Shape(std::move(extents)), Dtype::float32);
}

std::string message(const Array& q, const Array& k, const Array& v,
                    const OperandNames& names = {}) {
  try {
    check_shapes(q, k, v, names);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("problem: the extents of one head") {
  const Problem problem = check_shapes(zeros({2, 3}), zeros({5, 3}), zeros({5, 7}));
  CHECK(problem.heads == 1);
  CHECK(problem.n.T_q == 2);
  CHECK(problem.n.T_k == 5);
  CHECK(problem.n.d_k == 3);
  CHECK(problem.n.d_v == 7);
}

TEST_CASE("problem: leading extents multiply to the heads") {
  CHECK(check_shapes(zeros({4, 6, 2, 3}), zeros({4, 6, 5, 3}), zeros({4, 6, 5, 7})).heads == 24);
  CHECK(check_shapes(zeros({0, 2, 3}), zeros({0, 5, 3}), zeros({0, 5, 7})).heads == 0);
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
  CHECK(message(zeros({4, 2, 3}), zeros({2, 5, 3}), zeros({4, 5, 7})) ==
        "k: shape (2, 5, 3) does not have the leading extents of q, shape (4, 2, 3)");
  CHECK(message(zeros({4, 2, 3}), zeros({4, 5, 3}), zeros({5, 7})) ==
        "v: shape (5, 7) does not have the leading extents of q, shape (4, 2, 3)");
}

TEST_CASE("problem: messages call the operands by the caller's names") {
  CHECK(message(zeros({2, 3}), zeros({5, 4}), zeros({5, 7}), {"q.npy", "standard input", "v"}) ==
        "standard input: d_k is 4, but q.npy has d_k 3");
}
