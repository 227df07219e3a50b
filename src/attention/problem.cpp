#include "attention/problem.h"

#include "base/error.h"

#include <algorithm>

namespace sdpa {

namespace {

std::span<const Index> leading(const Array& array) {
  return array.shape().extents().first(static_cast<std::size_t>(array.shape().rank() - 2));
}

void require_matrix(const Array& array, const std::string& name) {
  if (array.shape().rank() < 2)
    throw Error(name, "shape " + array.shape().text() + " has " +
                          std::to_string(array.shape().rank()) +
                          " axes, attention needs at least 2");
}

void require_same_leading(const Array& a, const std::string& a_name, const Array& q,
                          const std::string& q_name) {
  if (!std::ranges::equal(leading(a), leading(q)))
    throw Error(a_name, "shape " + a.shape().text() + " does not have the leading extents of " +
                            q_name + ", shape " + q.shape().text());
}

}  // namespace

Problem check_shapes(const Array& q, const Array& k, const Array& v, const OperandNames& names) {
  require_matrix(q, names.q);
  require_matrix(k, names.k);
  require_matrix(v, names.v);
  require_same_leading(k, names.k, q, names.q);
  require_same_leading(v, names.v, q, names.q);

  const Extents extents{q.shape().from_end(2), k.shape().from_end(2), q.shape().from_end(1),
                        v.shape().from_end(1)};

  if (k.shape().from_end(1) != extents.d_k)
    throw Error(names.k, "d_k is " + std::to_string(k.shape().from_end(1)) + ", but " + names.q +
                             " has d_k " + std::to_string(extents.d_k));
  if (v.shape().from_end(2) != extents.T_k)
    throw Error(names.v, "T_k is " + std::to_string(v.shape().from_end(2)) + ", but " + names.k +
                             " has T_k " + std::to_string(extents.T_k));
  if (extents.T_k == 0)
    throw Error(names.k,
                "T_k is 0 in shape " + k.shape().text() + ", so there is no key to attend to");
  if (extents.d_k == 0)
    throw Error(names.q,
                "d_k is 0 in shape " + q.shape().text() + ", so 1/sqrt(d_k) is not a number");

  Index heads = 1;
  for (Index extent : leading(q)) heads *= extent;
  return {heads, extents};
}

}  // namespace sdpa
