#include "oracle/masks.h"

#include "oracle/random.h"

#include <cmath>

namespace sdpa::oracle {

namespace {

NamedArray length(Random& random, const char* name, Index longest) {
  Array array(Shape(std::vector<Index>{1}), Dtype::int64);
  const std::int64_t value = random.integer(0, longest);
  *reinterpret_cast<std::int64_t*>(array.mutable_data()) = value;
  return {array, name};
}

/// A shape that broadcasts to (T_q, T_k).
Shape shape_of(Random& random, Index T_q, Index T_k) {
  switch (random.integer(0, 5)) {
    case 0:
      return Shape(std::vector<Index>{1, T_k});
    case 1:
      return Shape(std::vector<Index>{T_q, 1});
    case 2:
      return Shape(std::vector<Index>{T_k});
    case 3:
      return Shape();
    default:
      return Shape(std::vector<Index>{T_q, T_k});
  }
}

NamedArray truth_values(Random& random, Index T_q, Index T_k) {
  const Dtype dtype = random.pick(std::vector{Dtype::boolean, Dtype::uint8, Dtype::int32});
  Array array(shape_of(random, T_q, T_k), dtype);
  const std::int64_t false_one_in = random.integer(2, 6);
  for (Index i = 0; i < array.shape().element_count(); ++i)
    array.mutable_data()[i * size_bytes(dtype)] = std::byte{!random.one_in(false_one_in)};
  return {array, "mask"};
}

double bias(Random& random, int kind) {
  if (random.one_in(8)) return -HUGE_VAL;
  switch (kind) {
    case 0:  // equal scores
      return static_cast<double>(random.integer(-1, 1));
    case 1:
      return random.one_in(2) ? 0 : -1e9;
    case 2:
      return std::ldexp(random.fraction() - 0.5, static_cast<int>(random.integer(-80, 80)));
    case 3:
      return random.one_in(3) ? -3.4e38 : random.fraction();
    default:
      return 8 * (random.fraction() - 0.5);
  }
}

NamedArray biases(Random& random, Index T_q, Index T_k) {
  Array array(shape_of(random, T_q, T_k), random.pick(std::vector{Dtype::float16, Dtype::bfloat16,
                                                                  Dtype::float32, Dtype::float64}));
  const int kind = static_cast<int>(random.integer(0, 5));
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    double value = bias(random, kind);
    // float16 would round it to an infinity.
    if (array.dtype() == Dtype::float16 && std::isfinite(value)) value = std::fmod(value, 60000);
    store_rounded(&value, 1, array.dtype(), array.mutable_data() + i * size_bytes(array.dtype()));
  }
  return {array, "bias"};
}

/// Element (t, j) of an array that broadcasts.
double element(const Array& array, Index t, Index j) {
  const Shape& shape = array.shape();
  const Index rank = shape.rank(), columns = rank > 0 ? shape.from_end(1) : 1;
  const Index column = columns == 1 ? 0 : j;
  const Index row = rank > 1 && shape.from_end(2) > 1 ? t : 0;
  return array.at(row * columns + column);
}

}  // namespace

MaskOptions random_mask(std::uint64_t seed, Index T_q, Index T_k) {
  Random random(seed ^ 0x6d61736b);
  MaskOptions mask;
  mask.causal = random.one_in(3);
  if (random.one_in(3)) {
    const auto side = [&] { return random.one_in(3) ? Visible::kOpen : random.integer(0, 4); };
    const Index left = side(), right = side();
    mask.window = {left, right};
  }
  if (random.one_in(4)) mask.key_lengths = length(random, "key lengths", T_k);
  if (random.one_in(4)) mask.query_lengths = length(random, "query lengths", T_q);
  if (mask.causal || mask.window) {
    using enum Alignment::Corner;
    const auto corner = random.pick(std::vector{top_left, bottom_right, offset});
    mask.align = {corner, random.integer(-9, 9)};
  }
  if (random.one_in(3)) mask.mask = truth_values(random, T_q, T_k);
  mask.mask_hides = random.one_in(2);
  if (random.one_in(2)) mask.bias = biases(random, T_q, T_k);
  return mask;
}

std::vector<Seen> seen_by(const MaskOptions& mask, Index T_q, Index T_k) {
  const Index keys = mask.key_lengths ? static_cast<Index>(mask.key_lengths->array.at(0)) : T_k;
  const Index queries =
      mask.query_lengths ? static_cast<Index>(mask.query_lengths->array.at(0)) : T_q;
  Index offset = 0;
  if (mask.align && mask.align->corner == Alignment::Corner::bottom_right) offset = keys - queries;
  if (mask.align && mask.align->corner == Alignment::Corner::offset) offset = mask.align->offset;
  std::vector<Seen> rows(static_cast<std::size_t>(T_q));
  for (Index t = 0; t < T_q; ++t)
    for (Index j = 0; j < T_k; ++j) {
      const Index p = t + offset;
      const double added = mask.bias ? element(mask.bias->array, t, j) : 0;
      bool sees = t < queries && j < keys;
      if (mask.causal && j > p) sees = false;
      if (mask.window && (j < p - mask.window->left || j > p + mask.window->right)) sees = false;
      if (mask.mask && (element(mask.mask->array, t, j) != 0) == mask.mask_hides) sees = false;
      if (added == -HUGE_VAL || !sees) continue;
      rows[static_cast<std::size_t>(t)].keys.push_back(j);
      rows[static_cast<std::size_t>(t)].biases.push_back(added);
    }
  return rows;
}

std::string described(const MaskOptions& mask) {
  std::string text = "mask";
  if (mask.causal) text += " causal";
  if (mask.window)
    text +=
        " window " + std::to_string(mask.window->left) + "," + std::to_string(mask.window->right);
  if (mask.align)
    text += " align " + std::to_string(static_cast<int>(mask.align->corner)) + " " +
            std::to_string(mask.align->offset);
  for (const auto* array : {&mask.key_lengths, &mask.query_lengths, &mask.mask, &mask.bias})
    if (*array)
      text += " " + (*array)->name + " " + (*array)->array.shape().text() + " " +
              std::string(name((*array)->array.dtype()));
  return text;
}

}  // namespace sdpa::oracle
