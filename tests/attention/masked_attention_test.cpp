#include "attention/masked_attention.h"

#include "catch.h"
#include "io/array_file.h"
#include "kernel/kernel.h"
#include "oracle/masks.h"
#include "oracle/matrix.h"
#include "oracle/property.h"
#include "oracle/random.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <limits>
#include <string>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Array normal(Random& random, Index rows, Index columns, Dtype dtype = Dtype::float32) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.normal();
  return matrix(rows, columns, values, dtype);
}

Array rows_at(const Array& from, const std::vector<Index>& rows) {
  std::vector<double> values;
  for (Index r : rows)
    for (Index c = 0; c < from.shape()[1]; ++c) values.push_back(from.at(r * from.shape()[1] + c));
  return matrix(std::ssize(rows), from.shape()[1], values, from.dtype());
}

Array truths(Index rows, Index columns, const std::function<bool(Index, Index)>& is_true) {
  Array array(Shape(std::vector<Index>{rows, columns}), Dtype::boolean);
  for (Index t = 0; t < rows; ++t)
    for (Index j = 0; j < columns; ++j)
      array.mutable_data()[t * columns + j] = std::byte{is_true(t, j)};
  return array;
}

/// Rows of masked attention are attention of the keys that they see.
void check_definition(const Array& q, const Array& k, const Array& v, const MaskOptions& mask,
                      std::span<const Index> rows, int threads) {
  const Settings settings{.threads = threads, .weights = true};
  const Attention result = masked_attention(q, k, v, mask, settings);
  const std::vector<Seen> seen = seen_by(mask, q.shape()[0], k.shape()[0]);
  for (Index t : rows) {
    const std::vector<Index>& keys = seen[static_cast<std::size_t>(t)].keys;
    INFO("row " << t << ", " << keys.size() << " keys, " << described(mask));
    if (keys.empty()) {
      CHECK(same_bytes(result.output.rows(t, 1), Array(Shape({1, v.shape()[1]}), Dtype::float32)));
      continue;
    }
    const Attention alone = attention(q.rows(t, 1), rows_at(k, keys), rows_at(v, keys), settings);
    CHECK(same_bytes(result.output.rows(t, 1), alone.output));
    std::vector<double> weights(static_cast<std::size_t>(k.shape()[0]));
    for (std::size_t i = 0; i < keys.size(); ++i)
      weights[static_cast<std::size_t>(keys[i])] = alone.weights->at(static_cast<Index>(i));
    CHECK(values_of(result.weights->rows(t, 1)) == weights);
  }
}

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace

TEST_CASE("masked: random masks give the referee's output and weights bit for bit", "[masked]") {
  const std::uint64_t seed = from_environment("SDPA_SEED", 1);
  const std::uint64_t count = from_environment("SDPA_COUNT", 20000);
  std::cout << "masked: " << count << " random problems, SDPA_SEED=" << seed << std::endl;
  for (std::uint64_t i = 0; i < count; ++i)
    if (const auto difference = masked_difference_of(seed + i)) FAIL_CHECK(*difference);
  CHECK(count > 0);
}

TEST_CASE("masked: the exact cases come out bit for bit", "[masked]") {
  const std::string folder = std::string(SDPA_SOURCE_DIR) + "/data/masks/";
  using enum Alignment::Corner;
  const auto check = [&](const std::string& name, MaskOptions mask, const char* array) {
    INFO(name);
    const auto file = [&](const char* of) { return read_array(folder + name + "/" + of + ".npy"); };
    if (std::string(array) == "bool") mask.mask = {file("mask"), "mask"};
    if (std::string(array) == "bias") mask.bias = {file("mask"), "mask"};
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const std::string suffix(sdpa::name(dtype));
      const Array expected = file(("expected_" + suffix).c_str()),
                  weights = file(("expected_weights_" + suffix).c_str());
      const Attention result = masked_attention(file("q"), file("k"), file("v"), mask,
                                                {.dtype = dtype, .weights = true});
      CHECK(std::ranges::equal(result.output.bytes(), expected.bytes()));
      CHECK(std::ranges::equal(result.weights->bytes(), weights.bytes()));
    }
  };
  for (const char* name : {"add_2d", "add_alibi", "add_inf", "add_minus_1e9"})
    check(name, {}, "bias");
  for (const char* name : {"bool_2d", "bool_dead_row", "bool_key_padding", "bool_poison"})
    check(name, {}, "bool");
  check("causal_and_bool", {.causal = true}, "bool");
  check("causal_square", {.causal = true}, "");
  check("causal_wide_bottom_right", {.causal = true, .align = Alignment{bottom_right, 0}}, "");
  check("causal_wide_top_left", {.causal = true, .align = Alignment{top_left, 0}}, "");
}

TEST_CASE("masked: rows are attention of their own keys, at the edges of blocks and spans",
          "[masked]") {
  Random random(3);
  for (const Index T_k : {31, 256, 257, 2048, 2100, 5000}) {
    const Index T_q = 70;
    const Array q = normal(random, T_q, 20), k = normal(random, T_k, 20),
                v = normal(random, T_k, 5);
    const std::vector<Index> rows = {0, 1, 31, 32, 47, 48, 69};
    using enum Alignment::Corner;
    const Alignment bottom{bottom_right, 0};
    check_definition(q, k, v, {.causal = true, .align = bottom}, rows, 1);
    check_definition(q, k, v, {.causal = true, .align = Alignment{top_left, 0}}, rows, 3);
    check_definition(q, k, v, {.window = Window{40, 3}, .align = bottom}, rows, 2);
    MaskOptions by_array;
    by_array.mask = {truths(T_q, T_k, [&](Index, Index) { return random.one_in(3); }), "mask"};
    check_definition(q, k, v, by_array, rows, 2);
    by_array.mask = {truths(1, T_k, [&](Index, Index j) { return j % 700 > 300; }), "mask"};
    check_definition(q, k, v, by_array, rows, 1);
  }
}

TEST_CASE("masked: no thread, instruction set or neighbour changes a bit", "[masked]") {
  Random random(5);
  const Index T = 400;
  const Array q = normal(random, T, 24), k = normal(random, T, 24), v = normal(random, T, 9);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const MaskOptions mask = random_mask(seed, T, T);
    for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32}) {
      Settings settings{.precision = precision, .weights = true};
      const Attention first = masked_attention(q, k, v, mask, settings);
      INFO(described(mask) << ", precision " << static_cast<int>(precision));
      for (const auto& set : kernel::instruction_sets()) {
        if (!set.supported()) continue;
        setenv("SDPA_FORCE_ISA", set.name, 1);
        for (const int threads : {1, 2, 3}) {
          settings.threads = threads;
          const Attention other = masked_attention(q, k, v, mask, settings);
          CHECK(same_bytes(first.output, other.output));
          CHECK(same_bytes(*first.weights, *other.weights));
        }
        unsetenv("SDPA_FORCE_ISA");
      }
    }
  }
}

TEST_CASE("masked: plain precisions give the bytes of attention where everything is visible",
          "[masked]") {
  Random random(6);
  const Array q = normal(random, 90, 24), k = normal(random, 2300, 24), v = normal(random, 2300, 9);
  MaskOptions everything;
  everything.mask = {truths(90, 2300, [](Index, Index) { return true; }), "mask"};
  MaskOptions one_row;  // sees all keys while its neighbours see few
  one_row.mask = {truths(90, 2300, [](Index t, Index j) { return t == 7 || j % 9 == t % 9; }),
                  "mask"};
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const Settings settings{.precision = precision, .weights = true};
    const Attention plain = attention(q, k, v, settings);
    const Attention masked = masked_attention(q, k, v, everything, settings);
    CHECK(same_bytes(plain.output, masked.output));
    CHECK(same_bytes(*plain.weights, *masked.weights));
    const Attention row = masked_attention(q, k, v, one_row, settings);
    CHECK(same_bytes(plain.output.rows(7, 1), row.output.rows(7, 1)));
    CHECK(same_bytes(plain.weights->rows(7, 1), row.weights->rows(7, 1)));
  }
}

TEST_CASE("masked: rows of k and v that no query sees are not read", "[masked]") {
  const Index T_q = 40, T_k = 3000, d = 128;
  const auto page = static_cast<Index>(sysconf(_SC_PAGESIZE));
  const Index bytes = T_k * d * 4, hidden_first = 1024 * d * 4, hidden_bytes = 640 * d * 4;
  REQUIRE(hidden_first % page == 0);
  REQUIRE(hidden_bytes % page == 0);
  const auto mapped = [&] {
    void* memory = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    Random random(9);
    auto* values = static_cast<float*>(memory);
    for (Index i = 0; i < T_k * d; ++i) values[i] = static_cast<float>(random.normal());
    return static_cast<std::byte*>(memory);
  };
  std::byte *k_bytes = mapped(), *v_bytes = mapped();
  const Array k(Shape({T_k, d}), Dtype::float32, nullptr, k_bytes),
      v(Shape({T_k, d}), Dtype::float32, nullptr, v_bytes);
  Random random(10);
  const Array q = normal(random, T_q, d);
  MaskOptions mask;
  mask.mask = {truths(T_q, T_k,
                      [](Index t, Index j) { return (j < 1024 || j >= 1664) && (t + j) % 3 != 0; }),
               "mask"};
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32}) {
    const Settings settings{.precision = precision, .threads = 2, .weights = true};
    const Attention before = masked_attention(q, k, v, mask, settings);
    for (std::byte* memory : {k_bytes, v_bytes})
      REQUIRE(mprotect(memory + hidden_first, static_cast<std::size_t>(hidden_bytes), PROT_NONE) ==
              0);
    const Attention after = masked_attention(q, k, v, mask, settings);
    for (std::byte* memory : {k_bytes, v_bytes})
      mprotect(memory + hidden_first, static_cast<std::size_t>(hidden_bytes),
               PROT_READ | PROT_WRITE);
    CHECK(same_bytes(before.output, after.output));
    CHECK(same_bytes(*before.weights, *after.weights));
  }
  munmap(k_bytes, static_cast<std::size_t>(bytes));
  munmap(v_bytes, static_cast<std::size_t>(bytes));
}

TEST_CASE("masked: a NaN or an infinity reaches the rows that see it, and no other", "[masked]") {
  Random random(11);
  const Index T = 60;
  for (const double poison : {kNan, HUGE_VAL, -HUGE_VAL})
    for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32}) {
      const Settings settings{.precision = precision, .weights = true};
      const Array q = normal(random, T, 8), k = normal(random, T, 8), v = normal(random, T, 3);
      const Attention clean = masked_attention(q, k, v, {.causal = true}, settings);
      std::vector<double> k_values = values_of(k), v_values = values_of(v);
      k_values[40 * 8 + 1] = poison;
      v_values[50 * 3 + 2] = poison;
      const Attention of_k = masked_attention(q, matrix(T, 8, k_values, Dtype::float32), v,
                                              {.causal = true}, settings);
      const Attention of_v = masked_attention(q, k, matrix(T, 3, v_values, Dtype::float32),
                                              {.causal = true}, settings);
      CHECK(same_bytes(clean.output.rows(0, 40), of_k.output.rows(0, 40)));
      CHECK(same_bytes(clean.weights->rows(0, 40), of_k.weights->rows(0, 40)));
      CHECK(same_bytes(clean.output.rows(0, 50), of_v.output.rows(0, 50)));
      CHECK(same_bytes(*clean.weights, *of_v.weights));
      for (Index t = 50; t < T; ++t) {
        CHECK(!std::isfinite(of_v.output.at(t * 3 + 2)));
        CHECK(of_v.output.at(t * 3) == clean.output.at(t * 3));
        if (std::isnan(poison)) CHECK(std::isnan(of_k.output.at(t * 3)));
      }
      // Hidden weights stay 0 in rows of NaN.
      CHECK(of_k.weights->at(41 * T + 42) == 0);
    }
}

TEST_CASE("masked: a bias that is not finite", "[masked]") {
  const Array q = matrix({{1, 2}, {3, 4}}), k = matrix({{1, 0}, {0, 1}, {1, 1}}),
              v = matrix({{1}, {2}, {4}});
  MaskOptions mask;
  mask.bias = {matrix({{0, HUGE_VAL, 0}, {0, 0, -HUGE_VAL}}), "bias"};
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32}) {
    const Settings settings{.precision = precision, .weights = true};
    const Attention result = masked_attention(q, k, v, mask, settings);
    CHECK(std::isnan(result.output.at(0)));
    CHECK(std::isfinite(result.output.at(1)));
    CHECK(result.weights->at(5) == 0);
    // Hidden, it does nothing.
    MaskOptions hidden = mask;
    hidden.mask = {truths(2, 3, [](Index t, Index j) { return t != 0 || j != 1; }), "mask"};
    const Attention other = masked_attention(q, k, v, hidden, settings);
    CHECK(std::isfinite(other.output.at(0)));
    CHECK(other.output.at(1) == result.output.at(1));
  }
}

TEST_CASE("masked: rows that see no key hold what was asked for", "[masked]") {
  const Array q = matrix({{1, 2}, {3, 4}, {5, 6}}), k = matrix({{1, 0}, {0, kNan}, {1, 1}}),
              v = matrix({{1}, {2}, {4}});
  MaskOptions mask{.causal = true, .align = Alignment{Alignment::Corner::offset, -1}};
  mask.query_lengths = {matrix({{2}}), "--query-lengths"};
  const auto first = [&](EmptyRows empty_rows, Precision precision) {
    mask.empty_rows = empty_rows;
    const Attention result =
        masked_attention(q, k, v, mask, {.precision = precision, .weights = true});
    CHECK(result.output.at(1) == 1);
    CHECK(result.output.at(2) == 0);  // behind its length
    CHECK(result.weights->at(8) == 0);
    return std::pair(result.output.at(0), result.weights->at(0));
  };
  for (const Precision precision : {Precision::exact, Precision::float64}) {
    CHECK(first(EmptyRows::zero, precision) == std::pair(0.0, 0.0));
    CHECK(std::isnan(first(EmptyRows::nan, precision).first));
    CHECK(std::isnan(first(EmptyRows::nan, precision).second));
    CHECK(first(EmptyRows::mean, precision) == std::pair(7.0 / 3, 1.0 / 3));
  }
  mask.empty_rows = EmptyRows::error;
  CHECK_THROWS_WITH(
      masked_attention(q, k, v, mask),
      "--empty-rows: query [0] sees none of the 3 keys (causal, offset -1, query lengths 2)");
}
