// Kernels with one fault each in what is seen, or added to scores and sums: the fault is named, with
// its parameter.

#include "report/fault_naming.h"

using namespace fault_naming;

TEST_CASE("fault names: masks") {
  const auto mask_kernel = [](const Inputs& in, const std::function<bool(int t, int j)>& sees) {
    Kernel kernel(in);
    kernel.sees = [sees](int, int t, int j) { return sees(t, j); };
    return kernel;
  };
  check_named("mask-missing", 2, 1, [](Generator&, const Inputs& in) {
    return Planted{output(in, Kernel(in)), {}, causal()};
  });
  check_named("mask-shifted", 2, 1, [&](Generator& generator, const Inputs& in) {
    const int n = any(generator, 0, 1) == 0 ? any(generator, 1, 8) : -any(generator, 1, 8);
    return Planted{output(in, mask_kernel(in, [=](int t, int j) { return j <= t + n; })), Index{n},
                   causal()};
  });
  check_named("align", 2, 1, [&](Generator&, const Inputs& in) {
    const int offset = in.T_k - in.T_q;
    return Planted{output(in, mask_kernel(in, [=](int t, int j) { return j <= t + offset; })),
                   "bottom-right", causal()};
  });
  check_named("window", 2, 1, [&](Generator& generator, const Inputs& in) {
    const int left = any(generator, 8, 12), taken = left + any(generator, -8, -1);
    MaskOptions mask{.window = Window{left, 0}, .align = Alignment{}};
    return Planted{
        output(in, mask_kernel(in, [=](int t, int j) { return j <= t && j >= t - taken; })),
        Index{taken}, mask};
  });
  check_named("mask-as-zero-score", 2, 1, [&](Generator&, const Inputs& in) {
    Kernel kernel = mask_kernel(in, [](int t, int j) { return j <= t; });
    kernel.hidden_score = 0;
    return Planted{output(in, kernel), {}, causal()};
  });
}

TEST_CASE("fault names: lengths") {
  const auto with_length = [](int length) {
    Array array(Shape{}, Dtype::int64);
    const std::int64_t number = length;
    std::memcpy(array.mutable_data(), &number, sizeof number);
    return MaskOptions{.key_lengths = NamedArray{array, "lengths"}};
  };
  check_named("lengths-ignored", 2, 1, [&](Generator& generator, const Inputs& in) {
    return Planted{output(in, Kernel(in)), {}, with_length(any(generator, 5, in.T_k - 9))};
  });
  check_named("length-shifted", 2, 1, [&](Generator& generator, const Inputs& in) {
    const int length = any(generator, 9, in.T_k - 8), taken = length + any(generator, 2, 8);
    Kernel kernel(in);
    kernel.sees = [=](int, int, int j) { return j < taken; };
    return Planted{output(in, kernel), Index{taken}, with_length(length)};
  });
}

TEST_CASE("fault names: biases") {
  const auto with_bias = [](Generator& generator, const Inputs& in) {
    const Array bias =
        array_of(normal(generator, in.T_q * in.T_k, 1, Dtype::float32), {in.T_q, in.T_k});
    return MaskOptions{.bias = NamedArray{bias, "bias"}};
  };
  check_named("bias-missing", 2, 1, [&](Generator& generator, const Inputs& in) {
    return Planted{output(in, Kernel(in)), {}, with_bias(generator, in)};
  });
  check_named("bias-scaled", 2, 1, [&](Generator& generator, const Inputs& in) {
    const MaskOptions mask = with_bias(generator, in);
    Kernel kernel(in);
    kernel.bias_before_scale = 1;
    kernel.bias = [&](int t, int j) {
      return static_cast<float>(mask.bias->array.at(t * in.T_k + j));
    };
    return Planted{output(in, kernel), {}, mask};
  });
}

TEST_CASE("fault names: soft caps and sinks") {
  Generator generator(9);
  for (Index problem = 0; problem < problems(); ++problem) {
    const Inputs in = faulty::random_inputs(generator, Dtype::float32, 2, 1);
    const auto check = [&](const std::string& fault, const FaultParameter& parameter,
                           const Kernel& right, const Kernel& wrong, double softcap,
                           std::optional<double> sink, const MaskOptions& mask) {
      const Heads heads(array_of(in.q, {in.H, in.T_q, in.d_k}),
                        array_of(in.k, {in.G, in.T_k, in.d_k}),
                        array_of(in.v, {in.G, in.T_k, in.d_v}), {}, {}, {}, mask);
      const Values is = output(in, wrong), should_be = output(in, right);
      Judgement judgement{
          .pattern = Pattern(Shape({1, 1})), .map = BlockMap(Shape({1, 1})), .rows = {}};
      judgement.rows.resize(static_cast<std::size_t>(in.H * in.T_q));
      for (std::size_t at = 0; at < is.size(); ++at)
        judgement.rows[at / static_cast<std::size_t>(in.d_v)].outside +=
            std::fabs(is[at] - should_be[at]) > 1e-5;
      JudgedOutput judged =
          judged_output(heads, array_of(is, {in.H, in.T_q, in.d_v}),
                        {Dtype::float32, Dtype::float32, Dtype::float32}, judgement, 1);
      judged.softcap = softcap;
      if (sink) judged.sink = [&](Index) { return sink; };
      const std::vector<Resemblance> all = find_faults(judged).resembles;
      INFO(fault << ": " << text(all));
      const auto found = std::ranges::find(all, fault, &Resemblance::fault);
      REQUIRE(found != all.end());
      CHECK(is_near(found->parameter, parameter));
    };

    Kernel uncapped(in), capped(in), leaking(in);
    uncapped.sees = capped.sees = [](int, int t, int j) { return j <= t; };
    leaking.sees = capped.sees;
    capped.softcap = leaking.softcap = 1.5f;
    leaking.hidden_score = -1.5f;
    check("softcap-missing", {}, capped, uncapped, 1.5, std::nullopt, causal());
    check("softcap-after-mask", {}, capped, leaking, 1.5, std::nullopt, causal());

    const auto with_sink = [&](float count, float logit) {
      Kernel kernel(in);
      kernel.more = [=](int, float m) { return count * std::exp(logit - m); };
      return kernel;
    };
    const Kernel sink = with_sink(1, 2.5f);
    check("sink-missing", {}, sink, Kernel(in), 0, 2.5, {});
    check("sink-scaled", {}, sink, with_sink(1, 2.5f * Kernel(in).scale), 0, 2.5, {});
    check("sink-counted", Index{3}, sink, with_sink(3, 2.5f), 0, 2.5, {});
  }
}
