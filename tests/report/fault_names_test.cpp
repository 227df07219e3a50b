// Kernels with one fault each, of float32 and of 16-bit outputs: the fault is named,
// with its parameter.

#include "report/fault_naming.h"

using namespace fault_naming;

TEST_CASE("fault names: any scale") {
  check_named("scale", 1, 2, [](Generator& generator, const Inputs& in) {
    Kernel kernel(in);
    const double by = std::uniform_real_distribution(0.3, 2.5)(generator);
    const double scale = by > 0.9 && by < 1.1 ? -0.07 : by / std::sqrt(in.d_k);
    kernel.scale = static_cast<float>(scale);
    return Planted{output(in, kernel), scale};
  });
}

TEST_CASE("fault names: any factor") {
  check_named("factor", 1, 2, [](Generator& generator, const Inputs& in) {
    const double factor = std::uniform_real_distribution(1.2, 9.0)(generator);
    Values o = output(in, Kernel(in));
    for (double& o_d : o) o_d *= factor;
    return Planted{o, factor};
  });
}

TEST_CASE("fault names: runs of keys that are missing") {
  check_named("keys-missing", 2, 1, [](Generator& generator, const Inputs& in) {
    const int first = any(generator, 0, in.T_k - 9), end = first + any(generator, 3, 8);
    Kernel kernel(in);
    kernel.sees = [=](int, int, int j) { return j < first || j >= end; };
    return Planted{output(in, kernel), range(first, end)};
  });
}

TEST_CASE("fault names: keys of padding") {
  check_named("keys-padded", 2, 1, [](Generator& generator, const Inputs& in) {
    const int padding = any(generator, 20, 90);
    Kernel kernel(in);
    kernel.more = [=](int, float m) { return static_cast<float>(padding) * std::exp(-m); };
    return Planted{output(in, kernel), Index{padding}};
  });
}

TEST_CASE("fault names: no division") {
  check_named("not-normalised", 1, 2, [](Generator&, const Inputs& in) {
    Kernel kernel(in);
    kernel.divides = false;
    return Planted{output(in, kernel)};
  });
}

TEST_CASE("fault names: an output that is not rescaled") {
  check_named("no-rescale", 2, 1, [](Generator& generator, const Inputs& in) {
    Kernel kernel(in);
    kernel.rescales_output = false;
    kernel.tile = any(generator, 3, 12);
    return Planted{output(in, kernel), Index{kernel.tile}};
  });
}

TEST_CASE("fault names: heads that use the wrong keys") {
  check_named("heads-tiled", 3, 2, [](Generator&, const Inputs& in) {
    Kernel kernel(in);
    kernel.key_head = [=](int h) { return h % in.G; };
    return Planted{output(in, kernel)};
  });
  check_named("first-head-for-all", 3, 1, [](Generator&, const Inputs& in) {
    Kernel kernel(in);
    kernel.key_head = [](int) { return 0; };
    return Planted{output(in, kernel)};
  });
}

TEST_CASE("fault names: the order of heads and rows in memory") {
  check_named("layout", 3, 1, [](Generator&, const Inputs& in) {
    const auto turned = [&](const Values& x, int T, int d) {
      Values y(x.size());
      for (int t = 0; t < T; ++t)
        for (int h = 0; h < in.H; ++h)
          std::copy_n(x.begin() + (t * in.H + h) * d, d, y.begin() + (h * T + t) * d);
      return y;
    };
    Inputs taken = in;
    taken.q = turned(in.q, in.T_q, in.d_k);
    taken.k = turned(in.k, in.T_k, in.d_k);
    taken.v = turned(in.v, in.T_k, in.d_v);
    const Values o = output(taken, Kernel(in));
    Values back(o.size());
    for (int t = 0; t < in.T_q; ++t)
      for (int h = 0; h < in.H; ++h)
        std::copy_n(o.begin() + (h * in.T_q + t) * in.d_v, in.d_v,
                    back.begin() + (t * in.H + h) * in.d_v);
    return Planted{back};
  });
}

TEST_CASE("fault names: rows") {
  check_named("rows-missing", 2, 1, [](Generator& generator, const Inputs& in) {
    const int first = any(generator, 0, in.T_q - 5), end = any(generator, first + 1, in.T_q);
    Values o = output(in, Kernel(in));
    for (int h = 0; h < in.H; ++h)
      std::fill(o.begin() + (h * in.T_q + first) * in.d_v, o.begin() + (h * in.T_q + end) * in.d_v,
                0.0);
    return Planted{o, range(first, end)};
  });
  check_named("rows-shifted", 2, 1, [](Generator& generator, const Inputs& in) {
    const int n = any(generator, 1, in.T_q / 2);
    Values o = output(in, Kernel(in));
    for (int h = 0; h < in.H; ++h) {
      const auto first = o.begin() + h * in.T_q * in.d_v;
      std::rotate(first, first + (in.T_q - n) * in.d_v, first + in.T_q * in.d_v);
    }
    return Planted{o, Index{n}};
  });
}

TEST_CASE("fault names: the softmax over the queries") {
  check_named("softmax-over-queries", 2, 1, [](Generator&, const Inputs& in) {
    Values o(static_cast<std::size_t>(in.H * in.T_q * in.d_v));
    for (int h = 0; h < in.H; ++h)
      for (int j = 0; j < in.T_k; ++j) {
        std::vector<float> w;
        float total = 0;
        for (int t = 0; t < in.T_q; ++t) {
          float dot = 0;
          for (int i = 0; i < in.d_k; ++i) dot += in.q_at(h, t, i) * in.k_at(h, j, i);
          w.push_back(std::exp(dot / std::sqrt(static_cast<float>(in.d_k))));
          total += w.back();
        }
        for (int t = 0; t < in.T_q; ++t)
          for (int d = 0; d < in.d_v; ++d)
            o[(h * in.T_q + t) * in.d_v + d] += w[t] / total * in.v_at(h, j, d);
      }
    return Planted{o};
  });
}

TEST_CASE("fault names: a fault of one head, and of some rows") {
  check_named("scale", 3, 1, [](Generator&, const Inputs& in) {
    Kernel kernel(in);
    kernel.scale = 1;
    Values o = output(in, Kernel(in));
    const Values wrong = output(in, kernel);
    const auto first = in.T_q * in.d_v;
    std::copy_n(wrong.begin() + first, first, o.begin() + first);
    return Planted{o, 1.0, {}, "head 1"};
  });
  check_named("mask-missing", 2, 1, [](Generator&, const Inputs& in) {
    Kernel kernel(in);
    kernel.sees = [](int, int t, int j) { return j <= t || (t >= 4 && t < 8); };
    return Planted{output(in, kernel), {}, causal(), "rows 4 to 7"};
  });
}

TEST_CASE("fault names: what no fault explains has none") {
  Generator generator(5);
  for (Index problem = 0; problem < problems(); ++problem)
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::float16}) {
      const Inputs in = faulty::random_inputs(generator, dtype, 2, 1);
      const Values o = output(in, Kernel(in));
      CHECK(text(named(in, o, dtype)) == "");
      const auto check_unknown = [&](const std::function<void(Values&)>& damage) {
        Values wrong = o;
        damage(wrong);
        CHECK(text(named(in, wrong, dtype)) == "");
      };
      const auto n = static_cast<int>(o.size());
      check_unknown([&](Values& x) { x[any(generator, 0, n - 1)] += 1; });
      check_unknown([&](Values& x) { x = normal(generator, n, 1, dtype); });
      check_unknown([&](Values& x) {
        for (double& value : x) value += 0.1 * std::normal_distribution()(generator);
      });
      check_unknown([&](Values& x) {
        for (double& value : x) value += 0.25;
      });
      check_unknown([&](Values& x) { std::ranges::shuffle(x, generator); });
      check_unknown([&](Values& x) { std::ranges::fill(x, std::nan("")); });
    }
}
