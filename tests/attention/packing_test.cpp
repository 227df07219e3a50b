#include "attention/packing.h"

#include "attention/heads.h"
#include "base/error.h"
#include "catch.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

Array integers(const std::vector<double>& values, Dtype dtype = Dtype::float64) {
  Array array(Shape({std::ssize(values)}), dtype);
  store_rounded(values.data(), std::ssize(values), dtype, array.mutable_data());
  return array;
}

std::string message(const Array& q, const Array& k, Index total_q, Index total_k) {
  try {
    Packing({q, "cu_q"}, {k, "cu_k"}, total_q, total_k, "q", "k");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Array normal(Random& random, std::vector<Index> extents) {
  Array array(Shape(std::move(extents)), Dtype::float32);
  for (Index i = 0; i < array.shape().element_count(); ++i) {
    const double value = random.normal();
    store_rounded(&value, 1, Dtype::float32, array.mutable_data() + i * 4);
  }
  return array;
}

bool same_bytes(const Array& a, const Array& b) {
  return a.size_bytes() == b.size_bytes() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size_bytes())) == 0;
}

constexpr Index kHeads = 4, kKeyHeads = 2, d_k = 8, d_v = 5;

/// Lengths of sequences: some without queries, without keys, without either.
struct Lengths {
  std::vector<Index> q, k;

  static Array offsets(const std::vector<Index>& lengths) {
    std::vector<double> offsets = {0};
    for (Index length : lengths) offsets.push_back(offsets.back() + static_cast<double>(length));
    return integers(offsets);
  }
  Layout layout() const {
    return {AxisOrder::thd, {}, {{offsets(q), "cu_q"}}, {{offsets(k), "cu_k"}}};
  }
};

Index sum(const std::vector<Index>& lengths) {
  Index sum = 0;
  for (Index length : lengths) sum += length;
  return sum;
}

struct Operands {
  Array q, k, v;
};

Operands operands(Random& random, const Lengths& lengths) {
  return {normal(random, {sum(lengths.q), kHeads, d_k}),
          normal(random, {sum(lengths.k), kKeyHeads, d_k}),
          normal(random, {sum(lengths.k), kKeyHeads, d_v})};
}

/// Compares rows of the whole, asked for `step` at a time, with each sequence alone.
void compare(const Operands& in, const Lengths& lengths, const Settings& settings,
             const MaskOptions& mask, Index step) {
  Heads packed(in.q, in.k, in.v, settings, lengths.layout(), {}, mask);
  const Index total = sum(lengths.q);
  Array all(Shape({kHeads * total, d_v}), Dtype::float32);
  Array placed(packed.problem().output_shape(), Dtype::float32);
  for (Index first = 0; first < packed.row_count(); first += step) {
    const Index count = std::min(step, packed.row_count() - first);
    const Array some = packed.rows(first, count).output;
    packed.problem().place_rows(some, first, placed);
    std::memcpy(all.rows(first, count).mutable_data(), some.data(),
                static_cast<std::size_t>(some.size_bytes()));
  }
  CHECK(placed.shape() == Shape({total, kHeads, d_v}));
  CHECK(packed.problem().in_order(placed).shape() == Shape({kHeads, total, d_v}));
  CHECK(same_bytes(packed.problem().in_order(placed), all));
  Index first_query = 0, first_key = 0;
  for (std::size_t b = 0; b < lengths.q.size(); ++b) {
    const Index T_q = lengths.q[b], T_k = lengths.k[b];
    for (Index h = 0; T_q != 0 && h < kHeads; ++h) {
      INFO("sequence " << b << ", head " << h << ", " << step << " rows at a time");
      const Array rows = all.rows(h * total + first_query, T_q);
      if (T_k == 0) {
        CHECK(same_bytes(rows, Array(Shape({T_q, d_v}), Dtype::float32)));
        continue;
      }
      Heads alone(in.q.rows(first_query, T_q), in.k.rows(first_key, T_k), in.v.rows(first_key, T_k),
                  settings, {AxisOrder::thd, {}}, {}, mask);
      REQUIRE(same_bytes(rows, alone.rows(h * T_q, T_q).output));
    }
    first_query += T_q;
    first_key += T_k;
  }
}

}  // namespace

TEST_CASE("packing: offsets say where sequences are") {
  const Packing packing({integers({0, 2, 2, 7}), "cu_q"}, {integers({0, 3, 4, 4}), "cu_k"}, 7, 4,
                        "q", "k");
  CHECK(packing.sequences() == 3);
  CHECK(packing.first_query(2) == 2);
  CHECK(packing.queries(2) == 5);
  CHECK(packing.keys(2) == 0);
  CHECK(packing.keys(0) == 3);
  CHECK(packing.sequence_of(0) == 0);
  CHECK(packing.sequence_of(1) == 0);
  CHECK(packing.sequence_of(2) == 2);  // the one between is empty
  CHECK(packing.sequence_of(6) == 2);
  CHECK(packing.pairs() == 6);
  CHECK(packing.text() == "3 sequences, query lengths 2, 0, 5, key lengths 3, 1, 0");
  CHECK(Packing().sequences() == 1);
}

TEST_CASE("packing: offsets that are none are named with both values") {
  const Array good = integers({0, 2, 4});
  CHECK(message(good, good, 4, 4) == "no error");
  CHECK(message(integers({0}), integers({0}), 0, 0) == "no error");
  CHECK(message(integers({1, 2, 4}), good, 4, 4) ==
        "cu_q: offset 0 is 1, but the first sequence begins at 0");
  CHECK(message(good, integers({0, 3, 2, 4}), 4, 4) ==
        "cu_k: offset 2 is 2, but offset 1 is 3: no sequence ends before it begins");
  CHECK(message(good, integers({0, 2, 3}), 4, 4) == "cu_k: the last offset is 3, but k has 4 rows");
  CHECK(message(integers({0, 5, 6}), good, 4, 4) == "cu_q: offset 1 is 5, but q has 4 rows");
  CHECK(message(good, integers({0, 4}), 4, 4) == "cu_k: 2 offsets, but cu_q has 3");
  CHECK(message(integers({0, 1.5, 4}), good, 4, 4) == "cu_q: offset 1 is 1.5, not an integer");
  CHECK(message(integers({0, std::nan(""), 4}), good, 4, 4) ==
        "cu_q: offset 1 is nan, not an integer");
  CHECK(message(integers({0, 1e300}), good, 4, 4) == "cu_q: offset 1 is 1e+300, but q has 4 rows");
  CHECK(message(integers({}), good, 4, 4) ==
        "cu_q: shape (0,) is not that of offsets, which is (B + 1,) for B sequences");
  CHECK(message(good, Array(Shape({1, 3}), Dtype::int32), 4, 4) ==
        "cu_k: shape (1, 3) is not that of offsets, which is (B + 1,) for B sequences");
}

TEST_CASE("packing: each sequence gives the bytes that it gives alone") {
  Random random(7);
  const Lengths lengths{{3, 0, 1, 40, 2, 0, 9}, {5, 4, 0, 30, 1, 0, 300}};
  const Operands in = operands(random, lengths);
  const MaskOptions causal{.causal = true, .align = Alignment{Alignment::Corner::bottom_right}};
  const MaskOptions window{.window = Window{2, 1}, .align = Alignment{Alignment::Corner::top_left}};
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32})
    for (const MaskOptions& mask : {MaskOptions{}, causal, window})
      for (const Index step : {1, 7, 64, 1000})
        for (const int threads : {1, 3}) compare(in, lengths, {precision, {}, threads}, mask, step);
}

TEST_CASE("packing: many queries and threads") {
  Random random(8);
  const Lengths lengths{{600, 1, 200, 700}, {500, 1, 3000, 700}};
  compare(operands(random, lengths), lengths, {.threads = 3}, {}, 4096);
}

TEST_CASE("packing: values that are not finite stay in their sequence") {
  Random random(9);
  const Lengths lengths{{3, 4}, {5, 6}};
  Operands in = operands(random, lengths);
  const float nan = std::nanf(""), infinity = HUGE_VALF;
  std::memcpy(in.k.rows(5, 1).mutable_data(), &nan, 4);
  std::memcpy(in.q.rows(0, 1).mutable_data(), &infinity, 4);
  for (const Precision precision : {Precision::exact, Precision::float32})
    compare(in, lengths, {precision}, {}, 100);
}

TEST_CASE("packing: queries of a sequence without keys are empty rows") {
  Random random(10);
  const Lengths lengths{{2, 3}, {4, 0}};
  const Operands in = operands(random, lengths);
  const auto with = [&](EmptyRows rule) {
    return Heads(in.q, in.k, in.v, {}, lengths.layout(), {}, {.empty_rows = rule});
  };
  Heads zero = with(EmptyRows::zero);
  zero.rows(0, zero.row_count());
  CHECK(zero.mask_counts().empty_rows == kHeads * 3);
  CHECK(zero.row_text(*zero.mask_counts().first_empty_row) == "[0, 2]");
  CHECK(zero.mask_counts().pairs == kHeads * 2 * 4);
  CHECK(zero.mask_counts().visible_pairs == kHeads * 2 * 4);
  for (const EmptyRows rule : {EmptyRows::nan, EmptyRows::mean}) {  // the mean of nothing
    Heads nan = with(rule);
    const Array output = nan.rows(0, nan.row_count()).output;
    CHECK(std::isfinite(output.at(d_v)));
    CHECK(std::isnan(output.at(2 * d_v)));
  }
  Heads error = with(EmptyRows::error);
  CHECK_THROWS_WITH(error.rows(0, 5),
                    "--empty-rows: query [0, 2] sees none of the 0 keys (no mask)");
}

TEST_CASE(
    "packing: a mask that moves needs an alignment if a sequence has T_q and T_k that differ") {
  const Lengths same{{2, 3}, {2, 3}}, other{{2, 3}, {2, 4}};
  const auto zeros = [](const Lengths& lengths, const MaskOptions& mask) {
    const Array q(Shape({sum(lengths.q), 1, 2}), Dtype::float32);
    const Array k(Shape({sum(lengths.k), 1, 2}), Dtype::float32);
    Heads(q, k, k, {}, lengths.layout(), {}, mask);
  };
  CHECK_NOTHROW(zeros(same, {.causal = true}));
  CHECK_NOTHROW(zeros(other, {.causal = true, .align = Alignment{}}));
  CHECK_THROWS_WITH(
      zeros(other, {.causal = true}),
      Catch::Contains("--causal: T_q of sequence 1 is 3 and T_k is 4, so give --align"));
}

TEST_CASE("packing: what packed sequences do not go with") {
  const Lengths lengths{{2, 3}, {2, 3}};
  const Array a(Shape({5, 1, 2}), Dtype::float32);
  const auto run = [&](const Array& q, const Layout& layout, const MaskOptions& mask,
                       const Settings& settings) { Heads(q, a, a, settings, layout, {}, mask); };
  const Layout layout = lengths.layout();
  const NamedArray truth{Array(Shape({5, 5}), Dtype::boolean), "mask.npy"};
  CHECK_NOTHROW(run(a, layout, {}, {}));
  CHECK_THROWS_WITH(run(a, layout, {.mask = truth}, {}),
                    Catch::Contains("mask.npy: packed sequences take no mask, bias or lengths"));
  CHECK_THROWS_WITH(run(a, layout, {}, {.weights = true}),
                    "--weights: those of packed sequences are matrices of different shapes");
  Layout htd = layout;
  htd.order = AxisOrder::htd;
  CHECK_THROWS_WITH(run(a, htd, {}, {}),
                    "cu_q: packed sequences lie in (total, H, d); say so with --layout thd");
  Layout half = layout;
  half.k_offsets.reset();
  CHECK_THROWS_WITH(run(a, half, {}, {}),
                    "cu_q: packed sequences need offsets of both, queries and keys");
  CHECK_THROWS_WITH(run(Array(Shape({1, 5, 1, 2}), Dtype::float32), layout, {}, {}),
                    "q: shape (1, 5, 1, 2) has a batch, but packed sequences lie in (total, H, d)");
}
