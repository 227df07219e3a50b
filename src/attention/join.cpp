#include "attention/join.h"

#include "attention/problem.h"
#include "base/error.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace sdpa {

namespace {

/// (..., T, G * d) as (..., G, T, d), copied, where `like` has these heads.
NamedArray with_heads_apart(const NamedArray& flat, const NamedArray& like) {
  const Index heads = like.array.shape().from_end(3), d = like.array.shape().from_end(1);
  const auto extents = flat.array.shape().extents();
  if (extents.back() != heads * d)
    throw Error(flat.name, "the last axis of shape " + flat.array.shape().text() +
                               " does not hold " + std::to_string(heads) + " heads of " +
                               std::to_string(d) + ", as " + like.name + " has, shape " +
                               like.array.shape().text());
  std::vector<Index> apart(extents.begin(), extents.end() - 1);
  apart.insert(apart.end() - 1, heads);
  apart.push_back(d);
  Array array(Shape(std::move(apart)), flat.array.dtype());

  const HeadMatrices all(flat.array, AxisOrder::htd, heads);
  const Index entries =
      std::reduce(extents.begin(), extents.end() - 2, Index{1}, std::multiplies());
  std::byte* to = array.mutable_data();
  for (Index head = 0; head < entries * heads; ++head) {
    const Array matrix = all.matrix(all.batch(), head / heads, head % heads).array();
    std::ranges::copy(matrix.bytes(), to);
    to += matrix.size_bytes();
  }
  return {array, flat.name};
}

void require_all_but_T(const NamedArray& part, const NamedArray& first, std::size_t T_axis) {
  const auto extents = part.array.shape().extents(), others = first.array.shape().extents();
  bool fits = extents.size() == others.size();
  for (std::size_t axis = 0; fits && axis < extents.size(); ++axis)
    fits = axis == T_axis || extents[axis] == others[axis];
  if (fits) return;
  throw Error(part.name, "shape " + part.array.shape().text() + " cannot be joined with " +
                             first.name + ", shape " + first.array.shape().text() +
                             ": only T may differ");
}

/// Elements first ... first + count - 1 of the array, in another type that holds them.
void copy_elements(const Array& array, Index first, Index count, Dtype dtype, std::byte* to) {
  if (array.dtype() == dtype) {
    std::memcpy(to, array.data() + first * size_bytes(dtype),
                static_cast<std::size_t>(count * size_bytes(dtype)));
    return;
  }
  constexpr Index kAtOnce = 4096;
  double numbers[kAtOnce];
  for (Index end = first + count; first < end; first += kAtOnce) {
    const Index some = std::min(kAtOnce, end - first);
    read_elements(array, first, some, numbers);
    store_rounded(numbers, some, dtype, to);
    to += some * size_bytes(dtype);
  }
}

}  // namespace

NamedArray joined(std::span<const NamedArray> given, const Layout& layout) {
  if (given.size() == 1) return given.front();
  std::vector<NamedArray> parts(given.begin(), given.end());
  for (const NamedArray& part : parts) require_matrix(part.array, part.name);

  const auto rank = [](const NamedArray& part) { return part.array.shape().rank(); };
  const NamedArray highest = *std::ranges::max_element(parts, {}, rank);
  if (layout.heads)
    for (NamedArray& part : parts)
      if (rank(part) + 1 == rank(highest)) part = with_heads_apart(part, highest);

  const bool heads_inside = layout.order == AxisOrder::thd && rank(highest) > 2;
  const auto T_axis = static_cast<std::size_t>(rank(highest) - (heads_inside ? 3 : 2));
  NamedArray all = parts.front();
  std::vector<Index> extents(all.array.shape().extents().begin(),
                             all.array.shape().extents().end());
  Dtype dtype = all.array.dtype();
  for (const NamedArray& part : std::span(parts).subspan(1)) {
    require_all_but_T(part, parts.front(), T_axis);
    extents[T_axis] += part.array.shape()[static_cast<Index>(T_axis)];
    if (part.array.dtype() != dtype) dtype = result_type(dtype, part.array.dtype());
    all.name += " + " + part.name;
  }

  // What lies behind one another along T, for all extents before it.
  const auto T_at = extents.begin() + static_cast<std::ptrdiff_t>(T_axis);
  const Index entries = std::reduce(extents.begin(), T_at, Index{1}, std::multiplies());
  const Index row = std::reduce(T_at + 1, extents.end(), Index{1}, std::multiplies());
  all.array = Array(Shape(std::move(extents)), dtype);
  std::byte* to = all.array.mutable_data();
  for (Index entry = 0; entry < entries; ++entry)
    for (const NamedArray& part : parts) {
      const Index count = part.array.shape()[static_cast<Index>(T_axis)] * row;
      copy_elements(part.array, entry * count, count, dtype, to);
      to += count * size_bytes(dtype);
    }
  return all;
}

}  // namespace sdpa
