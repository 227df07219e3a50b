#include "attention/problem.h"

#include "base/error.h"

#include <cstring>

namespace sdpa {

namespace {

struct Operand {
  const Array& array;
  const std::string& name;

  std::string text() const { return name + ", shape " + array.shape().text(); }
};

std::string heads_text(Index heads) {
  return std::to_string(heads) + (heads == 1 ? " head" : " heads");
}

/// Heads that the last axis of q holds, or 0.
Index flat_heads_of_q(const Operand& q, const Layout& layout) {
  if (!layout.heads) return 0;
  const Index width = q.array.shape().from_end(1);
  if (width % *layout.heads != 0)
    throw Error(q.name, "the last axis of shape " + q.array.shape().text() + " does not hold " +
                            heads_text(*layout.heads) + ": " + std::to_string(*layout.heads) +
                            " does not divide " + std::to_string(width));
  return *layout.heads;
}

void require_features(const Operand& q, Index d_k) {
  if (d_k == 0)
    throw Error(q.name,
                "d_k is 0 in shape " + q.array.shape().text() + ", so 1/sqrt(d_k) is not a number");
}

/// Whether the heads of k or v have an axis of their own, although those of q lie side by side.
bool has_heads_apart(const Operand& a, const Operand& q) {
  return a.array.shape().rank() == q.array.shape().rank() + 1;
}

/// Heads that the last axis of k holds, or 0: as many as d_k goes into it.
Index flat_heads_of_k(const Operand& k, const Operand& q, Index d_k, const Layout& layout) {
  if (!layout.heads || has_heads_apart(k, q)) return 0;
  require_features(q, d_k);
  const Index width = k.array.shape().from_end(1);
  if (width % d_k != 0 || width == 0)
    throw Error(k.name, "the last axis of shape " + k.array.shape().text() +
                            " does not hold heads of d_k " + std::to_string(d_k));
  return width / d_k;
}

/// Heads that the last axis of v holds, or 0: as many as k has.
Index flat_heads_of_v(const Operand& v, const Operand& q, const HeadMatrices& k,
                      const Layout& layout) {
  if (!layout.heads || has_heads_apart(v, q)) return 0;
  const Index width = v.array.shape().from_end(1);
  if (k.heads() == 0 || width % k.heads() != 0)
    throw Error(v.name, "the last axis of shape " + v.array.shape().text() + " does not hold " +
                            heads_text(k.heads()) + ", as many as k has");
  return k.heads();
}

/// Whether the extents `of` are those that `all` ends with, or 1.
bool is_shared_among(std::span<const Index> of, std::span<const Index> all) {
  if (of.size() > all.size()) return false;
  for (std::size_t i = 1; i <= of.size(); ++i)
    if (of[of.size() - i] != all[all.size() - i] && of[of.size() - i] != 1) return false;
  return true;
}

Packing packing_of(const Layout& layout, const Operand& q, const Operand& k,
                   const HeadMatrices& q_heads, const HeadMatrices& k_heads) {
  if (!layout.q_offsets && !layout.k_offsets) return {};
  if (!layout.k_offsets || !layout.q_offsets)
    throw Error(layout.q_offsets ? layout.q_offsets->name : layout.k_offsets->name,
                "packed sequences need offsets of both, queries and keys");
  if (layout.order != AxisOrder::thd)
    throw Error(layout.q_offsets->name,
                "packed sequences lie in (total, H, d); say so with --layout thd");
  if (!q_heads.batch().empty())
    throw Error(q.name, "shape " + q.array.shape().text() +
                            " has a batch, but packed sequences lie in (total, H, d)");
  return {*layout.q_offsets, *layout.k_offsets, q_heads.rows(), k_heads.rows(), q.name, k.name};
}

void require_leading(const Operand& a, const HeadMatrices& a_heads, const Operand& q,
                     const HeadMatrices& q_heads, const Layout& layout, const char* kind) {
  const bool has_more_axes =
      a.array.shape().rank() > q.array.shape().rank() && !(layout.heads && has_heads_apart(a, q));
  if (has_more_axes || !is_shared_among(a_heads.batch(), q_heads.batch()))
    throw Error(a.name, "shape " + a.array.shape().text() +
                            " does not have the leading extents of " + q.text());
  const Index H = q_heads.heads(), G = a_heads.heads();
  if (G == 0 ? H != 0 : H % G != 0)
    throw Error(a.name, std::to_string(H) + " query heads of " + q.name + " cannot share " +
                            std::to_string(G) + " " + kind + " heads");
}

/// What could be meant where d_k or T_k differ, by the extents that would fit.
std::string advice(const HeadMatrices& q, const HeadMatrices& k, const HeadMatrices& v) {
  const Index d_k = q.columns(), T_k = k.rows();
  const auto transposed = [](const std::string& name, const HeadMatrices& a) {
    return "; " + name + " is (" + std::to_string(a.rows()) + ", " + std::to_string(a.columns()) +
           "): would " + name + " transposed be meant?";
  };
  if (k.columns() != d_k && v.columns() == d_k && v.rows() == T_k)
    return "; would k and v be meant the other way round?";
  if (k.columns() != d_k && T_k == d_k && k.columns() == v.rows()) return transposed("k", k);
  if (k.columns() != d_k && q.rows() == k.columns() && T_k == v.rows()) return transposed("q", q);
  if (k.columns() == d_k && v.rows() != T_k && v.columns() == T_k) return transposed("v", v);
  return "";
}

}  // namespace

void require_matrix(const Array& operand, const std::string& name) {
  const Shape& shape = operand.shape();
  if (shape.rank() < 2)
    throw Error(name, "shape " + shape.text() + " has " + std::to_string(shape.rank()) +
                          " axes, attention needs at least 2");
  if (operand.dtype() == Dtype::boolean)
    throw Error(name, "holds bool, not numbers: truth values are a mask");
}

Problem check_shapes(const Array& q_array, const Array& k_array, const Array& v_array,
                     const Layout& layout, const OperandNames& names) {
  const Operand q{q_array, names.q}, k{k_array, names.k}, v{v_array, names.v};
  for (const Operand& operand : {q, k, v}) require_matrix(operand.array, operand.name);

  const HeadMatrices q_heads(q.array, layout.order, flat_heads_of_q(q, layout));
  const HeadMatrices k_heads(k.array, layout.order,
                             flat_heads_of_k(k, q, q_heads.columns(), layout));
  const HeadMatrices v_heads(v.array, layout.order, flat_heads_of_v(v, q, k_heads, layout));
  require_leading(k, k_heads, q, q_heads, layout, "key");
  require_leading(v, v_heads, q, q_heads, layout, "value");
  if (k_heads.heads() != v_heads.heads() && k_heads.heads() != 1 && v_heads.heads() != 1)
    throw Error(v.name, "has " + heads_text(v_heads.heads()) + ", but " + k.name + " has " +
                            std::to_string(k_heads.heads()));

  const Extents n{q_heads.rows(), k_heads.rows(), q_heads.columns(), v_heads.columns()};
  if (k_heads.columns() != n.d_k)
    throw Error(k.name, "d_k is " + std::to_string(k_heads.columns()) + ", but " + q.name +
                            " has d_k " + std::to_string(n.d_k) +
                            advice(q_heads, k_heads, v_heads));
  if (v_heads.rows() != n.T_k)
    throw Error(v.name, "T_k is " + std::to_string(v_heads.rows()) + ", but " + k.name +
                            " has T_k " + std::to_string(n.T_k) +
                            advice(q_heads, k_heads, v_heads));
  const Packing packing = packing_of(layout, q, k, q_heads, k_heads);
  if (n.T_k == 0 && !packing.is_packed())
    throw Error(k.name, "T_k is 0 in shape " + k.array.shape().text() +
                            ", so there is no key to attend to");
  require_features(q, n.d_k);

  Index batch = 1;
  for (Index extent : q_heads.batch()) batch *= extent;
  return {q_heads, k_heads, v_heads, layout, q.array.shape(), batch, n, packing};
}

Head Problem::head(Index number) const {
  const Index B = packing.sequences(), of_all = number / B, sequence = number % B;
  const Index b = of_all / q.heads(), h = of_all % q.heads();
  const auto shared = [&](const HeadMatrices& a) {
    return a.matrix(q.batch(), b, h / (q.heads() / a.heads()));
  };
  if (!packing.is_packed()) return make_head(q.matrix(q.batch(), b, h), shared(k), shared(v));
  const Index first_key = packing.first_key(sequence), keys = packing.keys(sequence);
  return make_head(
      q.matrix(q.batch(), b, h).part(packing.first_query(sequence), packing.queries(sequence)),
      shared(k).part(first_key, keys), shared(v).part(first_key, keys));
}

RowRange Problem::rows_of(Index number) const {
  const Index B = packing.sequences(), first = number / B * n.T_q;
  if (!packing.is_packed()) return {first, n.T_q};
  return {first + packing.first_query(number % B), packing.queries(number % B)};
}

Index Problem::head_of_row(Index row) const {
  return row / n.T_q * packing.sequences() + packing.sequence_of(row % n.T_q);
}

double Problem::keys_per_row() const {
  if (!packing.is_packed() || n.T_q == 0) return static_cast<double>(n.T_k);
  return packing.pairs() / static_cast<double>(n.T_q);
}

Shape Problem::rows_shape(Index columns) const {
  std::vector<Index> extents(q.batch().begin(), q.batch().end());
  if (q_shape.rank() > 2 || layout.heads) extents.push_back(q.heads());
  extents.push_back(n.T_q);
  extents.push_back(columns);
  return Shape(std::move(extents));
}

Shape Problem::output_shape() const {
  std::vector<Index> extents(q_shape.extents().begin(), q_shape.extents().end());
  extents.back() = layout.heads ? *layout.heads * n.d_v : n.d_v;
  return Shape(std::move(extents));
}

bool Problem::output_is_in_order() const {
  return q.heads() == 1 || (layout.order == AxisOrder::htd && !layout.heads);
}

void Problem::place_rows(const Array& rows, Index first, Array& output) const {
  const HeadMatrices heads(output, layout.order, layout.heads.value_or(0));
  const auto row_bytes = static_cast<std::size_t>(n.d_v * size_bytes(output.dtype()));
  for (Index r = 0; r < rows.shape()[0];) {
    const Index number = (first + r) / n.T_q;
    const MatrixView head = heads.matrix(q.batch(), number / q.heads(), number % q.heads());
    for (Index t = (first + r) % n.T_q; t < n.T_q && r < rows.shape()[0]; ++t, ++r) {
      const std::ptrdiff_t offset = head.row(t) - output.data();
      std::memcpy(output.mutable_data() + offset,
                  rows.data() + static_cast<std::size_t>(r) * row_bytes, row_bytes);
    }
  }
}

Array Problem::in_order(const Array& output) const {
  if (output_is_in_order()) return output.part(0, rows_shape(n.d_v));
  const HeadMatrices all(output, layout.order, layout.heads.value_or(0));
  Array ordered(rows_shape(n.d_v), output.dtype());
  std::byte* to = ordered.mutable_data();
  for (Index number = 0; number < batch * q.heads(); ++number) {
    const Array head = all.matrix(q.batch(), number / q.heads(), number % q.heads()).array();
    std::memcpy(to, head.data(), static_cast<std::size_t>(head.size_bytes()));
    to += head.size_bytes();
  }
  return ordered;
}

}  // namespace sdpa
