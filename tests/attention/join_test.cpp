#include "attention/join.h"

#include "attention/heads.h"
#include "base/error.h"
#include "catch.h"
#include "io/array_file.h"

#include <cstring>
#include <string>
#include <vector>

using namespace sdpa;

namespace {

/// from, from + 1, ...
Array counting(std::vector<Index> extents, double from = 0, Dtype dtype = Dtype::float32) {
  Array array(Shape(std::move(extents)), dtype);
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    const double value = from + static_cast<double>(i);
    store_rounded(&value, 1, dtype, array.mutable_data() + i * size_bytes(dtype));
  }
  return array;
}

std::vector<double> elements(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.shape().element_count()));
  read_elements(array, 0, std::ssize(values), values.data());
  return values;
}

Array join(std::vector<Array> arrays, const Layout& layout = {}) {
  std::vector<NamedArray> parts;
  for (const Array& array : arrays)
    parts.push_back({array, std::string(1, static_cast<char>('a' + parts.size()))});
  return joined(parts, layout).array;
}

std::string message(std::vector<Array> arrays, const Layout& layout = {}) {
  try {
    join(std::move(arrays), layout);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool same_bytes(const Array& a, const Array& b) {
  return a.size_bytes() == b.size_bytes() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size_bytes())) == 0;
}

/// Rows first ... first + count - 1 of each head of (1, heads, T, d), heads side by side: (1, count,
/// heads * d).
Array side_by_side(const Array& htd, Index first, Index count) {
  const Index heads = htd.shape()[1], T = htd.shape()[2], d = htd.shape()[3];
  Array flat(Shape({1, count, heads * d}), htd.dtype());
  for (Index h = 0; h < heads; ++h)
    for (Index t = 0; t < count; ++t)
      std::memcpy(flat.mutable_data() + (t * heads + h) * d * 4,
                  htd.data() + (h * T + first + t) * d * 4, static_cast<std::size_t>(d) * 4);
  return flat;
}

/// Rows 0 ... count - 1 of each head of (1, heads, T, d).
Array past_of(const Array& htd, Index count) {
  const Index heads = htd.shape()[1], T = htd.shape()[2], d = htd.shape()[3];
  Array past(Shape({1, heads, count, d}), htd.dtype());
  for (Index h = 0; h < heads; ++h)
    std::memcpy(past.mutable_data() + h * count * d * 4, htd.data() + h * T * d * 4,
                static_cast<std::size_t>(count * d) * 4);
  return past;
}

}  // namespace

TEST_CASE("join: heads before T") {
  const Array all = join({counting({2, 1, 2}), counting({2, 2, 2}, 10), counting({2, 0, 2})});
  CHECK(all.shape() == Shape({2, 3, 2}));
  CHECK(elements(all) == std::vector<double>{0, 1, 10, 11, 12, 13, 2, 3, 14, 15, 16, 17});
}

TEST_CASE("join: heads behind T") {
  const Array all = join({counting({1, 2, 2}), counting({2, 2, 2}, 10)}, {AxisOrder::thd, {}});
  CHECK(all.shape() == Shape({3, 2, 2}));
  CHECK(elements(all) == std::vector<double>{0, 1, 2, 3, 10, 11, 12, 13, 14, 15, 16, 17});
  const Array one_head = join({counting({1, 2}), counting({1, 2}, 10)}, {AxisOrder::thd, {}});
  CHECK(elements(one_head) == std::vector<double>{0, 1, 10, 11});
}

TEST_CASE("join: heads side by side stay so, and those apart make all others so") {
  const Layout layout{AxisOrder::htd, 2};
  const Array flat = join({counting({1, 1, 4}), counting({1, 1, 4}, 10)}, layout);
  CHECK(flat.shape() == Shape({1, 2, 4}));
  CHECK(elements(flat) == std::vector<double>{0, 1, 2, 3, 10, 11, 12, 13});
  // Past keys (B, G, T, d) before new ones (B, T, G d).
  const Array apart = join({counting({1, 2, 1, 2}), counting({1, 2, 4}, 10)}, layout);
  CHECK(apart.shape() == Shape({1, 2, 3, 2}));
  CHECK(elements(apart) == std::vector<double>{0, 1, 10, 11, 14, 15, 2, 3, 12, 13, 16, 17});
}

TEST_CASE("join: numbers of two types are exact in the type of the whole") {
  const auto one = [](double value, Dtype dtype) { return counting({1, 1}, value, dtype); };
  const Array half = join({one(1 + 0x1p-10, Dtype::float16), one(0x1p100, Dtype::bfloat16)});
  CHECK(half.dtype() == Dtype::float32);
  CHECK(elements(half) == std::vector<double>{1 + 0x1p-10, 0x1p100});
  Array bytes(Shape({1, 1}), Dtype::int8);
  *bytes.mutable_data() = std::byte{0x85};
  CHECK(join({bytes, bytes}).dtype() == Dtype::int8);
  CHECK(elements(join({bytes, bytes})) == std::vector<double>{-123, -123});
  const Array mixed = join({bytes, one(0.5, Dtype::float16)});
  CHECK(mixed.dtype() == Dtype::float64);
  CHECK(elements(mixed) == std::vector<double>{-123, 0.5});
}

TEST_CASE("join: one array stays where it is") {
  const Array only = counting({2, 2});
  CHECK(join({only}).data() == only.data());
}

TEST_CASE("join: arrays that differ in more than T are named with both shapes") {
  CHECK(message({counting({2, 2, 3}), counting({2, 1, 4})}) ==
        "b: shape (2, 1, 4) cannot be joined with a, shape (2, 2, 3): only T may differ");
  CHECK(message({counting({2, 2, 3}), counting({1, 2, 3})}) ==
        "b: shape (1, 2, 3) cannot be joined with a, shape (2, 2, 3): only T may differ");
  CHECK(message({counting({2, 3}), counting({1, 2, 3})}) ==
        "b: shape (1, 2, 3) cannot be joined with a, shape (2, 3): only T may differ");
  CHECK(message({counting({2, 2, 3}), counting({2, 1, 3})}, {AxisOrder::thd, {}}) ==
        "b: shape (2, 1, 3) cannot be joined with a, shape (2, 2, 3): only T may differ");
  CHECK(message({counting({1, 2, 5, 4}), counting({1, 5, 7})}, {AxisOrder::htd, 2}) ==
        "b: the last axis of shape (1, 5, 7) does not hold 2 heads of 4, as a has, shape (1, 2, 5, "
        "4)");
  CHECK(message({counting({2, 3}), Array(Shape({1, 3}), Dtype::boolean)}) ==
        "b: holds bool, not numbers: truth values are a mask");
  CHECK(message({counting({2, 3}), counting({3})}) ==
        "b: shape (3,) has 1 axes, attention needs at least 2");
}

TEST_CASE("join: grouped heads side by side, behind past keys, give the bytes of heads apart") {
  const std::string folder = SDPA_SOURCE_DIR "/data/example/sentence/layer1/";
  const auto read = [&](const char* name) {
    const Array array = read_array(folder + name);
    return array.part(0, Shape({1, array.shape()[0], array.shape()[1], array.shape()[2]}));
  };
  constexpr Index kHeads = 2, kPast = 9, kNew = 4, d = 128;
  const Array q = read("q.npy");
  const Array k = read("k.npy").part(0, Shape({1, kHeads, kPast + kNew, d}));
  const Array v = read("v.npy").part(0, Shape({1, kHeads, kPast + kNew, d}));
  const Layout layout{AxisOrder::htd, 4};
  const auto cached = [&](const Array& all) {
    return join({past_of(all, kPast), side_by_side(all, kPast, kNew)}, layout);
  };
  const MaskOptions causal{.causal = true};
  for (const MaskOptions& mask : {MaskOptions{}, causal}) {
    Heads apart(q, k, v, {}, {}, {}, mask);
    Heads together(side_by_side(q, 0, 13), cached(k), cached(v), {}, layout, {}, mask);
    const Array result = together.rows(0, together.row_count()).output;
    CHECK(together.problem().output_shape() == Shape({1, 13, 4 * d}));
    CHECK(same_bytes(result, apart.rows(0, apart.row_count()).output));
  }
}
