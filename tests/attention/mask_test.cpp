#include "attention/mask.h"

#include "catch.h"
#include "oracle/masks.h"

#include <string>

using namespace sdpa;

namespace {

Array truths(Shape shape, const std::vector<int>& values) {
  Array array(std::move(shape), Dtype::boolean);
  for (std::size_t i = 0; i < values.size(); ++i) array.mutable_data()[i] = std::byte(values[i]);
  return array;
}

Array numbers(Shape shape, const std::vector<double>& values, Dtype dtype = Dtype::float32) {
  Array array(std::move(shape), dtype);
  store_rounded(values.data(), static_cast<Index>(values.size()), dtype, array.mutable_data());
  return array;
}

NamedArray lengths(std::vector<double> values) {
  const auto count = static_cast<Index>(values.size());
  return {numbers(Shape(std::vector<Index>{count}), values, Dtype::float64), "--key-lengths"};
}

std::string error_of(const MaskOptions& options, const std::vector<Index>& leading, Index T_q,
                     Index T_k) {
  try {
    Mask(options, leading, leading.size() > 1, T_q, T_k);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

const Alignment kTopLeft{Alignment::Corner::top_left, 0};
const Alignment kBottomRight{Alignment::Corner::bottom_right, 0};

std::vector<KeyRun> runs(const Mask& mask, Index head, Index t, Index T_k) {
  return mask.of_head(head).runs(t, T_k);
}

}  // namespace

TEST_CASE("mask: causal ends at the query's position, in either corner") {
  const Mask top_left({.causal = true, .align = kTopLeft}, {}, false, 3, 7);
  CHECK(runs(top_left, 0, 0, 7) == std::vector<KeyRun>{{0, 1}});
  CHECK(runs(top_left, 0, 2, 7) == std::vector<KeyRun>{{0, 3}});
  const Mask bottom_right({.causal = true, .align = kBottomRight}, {}, false, 3, 7);
  CHECK(runs(bottom_right, 0, 0, 7) == std::vector<KeyRun>{{0, 5}});
  CHECK(runs(bottom_right, 0, 2, 7) == std::vector<KeyRun>{{0, 7}});
  const Mask more_queries({.causal = true, .align = kBottomRight}, {}, false, 7, 3);
  CHECK(runs(more_queries, 0, 3, 3).empty());
  CHECK(runs(more_queries, 0, 4, 3) == std::vector<KeyRun>{{0, 1}});
}

TEST_CASE("mask: a window counts the keys beside the query's position") {
  const Mask mask({.window = Window{2, 1}}, {}, false, 6, 6);
  CHECK(runs(mask, 0, 0, 6) == std::vector<KeyRun>{{0, 2}});
  CHECK(runs(mask, 0, 3, 6) == std::vector<KeyRun>{{1, 5}});
  CHECK(runs(mask, 0, 5, 6) == std::vector<KeyRun>{{3, 6}});
  const Mask open({.window = Window{Visible::kOpen, 0}}, {}, false, 6, 6);
  CHECK(runs(open, 0, 4, 6) == std::vector<KeyRun>{{0, 5}});
}

TEST_CASE("mask: lengths belong to entries of the batch, which share the axis of heads") {
  MaskOptions options{.causal = true, .align = kBottomRight};
  options.key_lengths = lengths({2, 5});
  options.query_lengths = {numbers(Shape({1}), {3}, Dtype::float64), "--query-lengths"};
  const Mask mask(options, std::vector<Index>{2, 3}, true, 4, 5);
  CHECK(runs(mask, 0, 2, 5) == std::vector<KeyRun>{{0, 2}});
  CHECK(runs(mask, 2, 0, 5).empty());
  CHECK(runs(mask, 3, 0, 5) == std::vector<KeyRun>{{0, 3}});
  CHECK(runs(mask, 5, 2, 5) == std::vector<KeyRun>{{0, 5}});
  CHECK(runs(mask, 5, 3, 5).empty());
}

TEST_CASE("mask: arrays broadcast over batch, heads and queries, read where they lie") {
  MaskOptions options;
  options.mask = {truths(Shape({2, 1, 1, 3}), {1, 0, 1, 0, 1, 1}), "m"};
  const Mask mask(options, std::vector<Index>{2, 2}, true, 2, 3);
  CHECK(runs(mask, 1, 1, 3) == std::vector<KeyRun>{{0, 1}, {2, 3}});
  CHECK(runs(mask, 2, 0, 3) == std::vector<KeyRun>{{1, 3}});
  CHECK(mask.of_head(3).mask->array.data() == options.mask->array.data());
  options.mask_hides = true;
  CHECK(runs(Mask(options, std::vector<Index>{2, 2}, true, 2, 3), 2, 0, 3) ==
        std::vector<KeyRun>{{0, 1}});
}

TEST_CASE("mask: all conditions together, against the definition pair by pair") {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const auto T_q = static_cast<Index>(1 + seed % 7), T_k = static_cast<Index>(1 + seed % 101);
    const MaskOptions options = oracle::random_mask(seed, T_q, T_k);
    const Visible visible = Mask(options, {}, false, T_q, T_k).of_head(0);
    const Survey seen = survey(visible, T_q, T_k, 2);
    const std::vector<oracle::Seen> expected = oracle::seen_by(options, T_q, T_k);
    INFO("seed " << seed << ", " << oracle::described(options));
    std::vector<char> any(static_cast<std::size_t>(T_k));
    for (Index t = 0; t < T_q; ++t) {
      const std::vector<Index>& keys = expected[static_cast<std::size_t>(t)].keys;
      CHECK(visible.keys(t, T_k) == keys);
      CHECK(visible.from_query(t).keys(0, T_k) == keys);
      CHECK(seen.counts[static_cast<std::size_t>(t)] == std::ssize(keys));
      for (Index j : keys) any[static_cast<std::size_t>(j)] = 1;
    }
    for (Index j = 0; j < T_k; ++j)
      CHECK(seen.is_seen(j) == (any[static_cast<std::size_t>(j)] != 0));
  }
}

TEST_CASE("mask: what it is, in words") {
  MaskOptions options{.causal = true, .window = Window{128, Visible::kOpen}, .align = kBottomRight};
  CHECK(Mask(options, {}, false, 8, 32).text() ==
        "causal, window 128,inf, bottom-right (offset 24)");
  options.align = Alignment{Alignment::Corner::offset, -3};
  options.key_lengths = lengths({7});
  CHECK(Mask(options, {}, false, 8, 32).text() ==
        "causal, window 128,inf, offset -3, key lengths 7");
  CHECK(Mask({}, {}, false, 8, 32).text() == "no mask");
}

TEST_CASE("mask: what does not fit is refused with both values") {
  const std::vector<Index> none, batch = {2, 3};
  const std::string corners =
      ", so give --align top-left (PyTorch is_causal, JAX, Keras, ONNX without a cache) or --align "
      "bottom-right (FlashAttention, MLX, decoding with a cache)";
  CHECK(error_of({.causal = true}, none, 3, 7) == "--causal: T_q is 3 and T_k is 7" + corners);
  MaskOptions options{.window = Window{1, 1}};
  options.key_lengths = lengths({2});
  CHECK(error_of(options, none, 4, 4) == "--window: lengths are given" + corners);
  CHECK(error_of({.causal = true}, none, 4, 4).empty());
  CHECK(error_of({.align = kTopLeft}, none, 4, 4) ==
        "--align: there is nothing to align, neither --causal nor --window is given");

  const auto of_lengths = [&](std::vector<double> values) {
    MaskOptions with;
    with.key_lengths = lengths(std::move(values));
    return error_of(with, batch, 4, 5);
  };
  CHECK(of_lengths({6}) == "--key-lengths: length 6 is beyond T_k, which is 5");
  CHECK(of_lengths({-1}) == "--key-lengths: length -1 is negative");
  CHECK(of_lengths({1.5}) == "--key-lengths: length 1.5 is not an integer");
  CHECK(of_lengths({1, 2, 3}) == "--key-lengths: 3 lengths, but the batch has 2 entries");

  const auto of_mask = [&](Array array) {
    MaskOptions with;
    with.mask = {std::move(array), "m.npy"};
    return error_of(with, batch, 4, 5);
  };
  CHECK(of_mask(Array(Shape({5, 4}), Dtype::boolean)) ==
        "m.npy: shape (5, 4) does not broadcast to that of the scores, (2, 3, 4, 5); rows are "
        "queries, "
        "columns are keys");
  CHECK(of_mask(Array(Shape({2, 4, 5}), Dtype::boolean)) ==
        "m.npy: shape (2, 4, 5) does not broadcast to that of the scores, (2, 3, 4, 5); as a mask "
        "for "
        "each batch entry its shape would be (2, 1, 4, 5)");
  CHECK(of_mask(Array(Shape({2, 5}), Dtype::boolean)) ==
        "m.npy: shape (2, 5) does not broadcast to that of the scores, (2, 3, 4, 5); as a mask for "
        "each batch entry its shape would be (2, 1, 1, 5)");
  CHECK(of_mask(Array(Shape({4, 5}), Dtype::float32)) ==
        "m.npy: holds float32, but a mask is bool; numbers that are added to the scores are given "
        "with "
        "--bias");
  CHECK(of_mask(truths(Shape({5}), {0, 1, 2, 1, 1})) ==
        "m.npy: element [2] is 2, but those of a mask are 0 or 1");
  MaskOptions with_bias;
  with_bias.bias = {Array(Shape({4, 5}), Dtype::boolean), "b.npy"};
  CHECK(
      error_of(with_bias, batch, 4, 5) ==
      "b.npy: holds bool, but a bias is numbers that are added to the scores; a mask is given with "
      "--mask");
}

TEST_CASE("mask: a bias of zeros and ones is remarked on") {
  MaskOptions options;
  options.bias = {numbers(Shape({4}), {0, 1, 1, 0}), "b.npy"};
  CHECK(Mask(options, {}, false, 2, 4).warning() ==
        "b.npy: looks like a mask of 0 and 1: did you mean --mask?");
  options.bias = {numbers(Shape({4}), {0, 1, 1, 0.5}), "b.npy"};
  CHECK(Mask(options, {}, false, 2, 4).warning().empty());
}
