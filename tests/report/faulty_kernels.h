#pragma once

#include "report/arrays.h"

#include <cmath>
#include <functional>
#include <optional>
#include <vector>

/// Kernels of several heads in float32, in plain loops, with places where a fault can be put.
namespace faulty {

using sdpa::Dtype;

/// Operands with their extents: q (H, T_q, d_k), k (G, T_k, d_k), v (G, T_k, d_v).
struct Inputs {
  int H, G, T_q, T_k, d_k, d_v;
  std::vector<double> q, k, v;

  float q_at(int h, int t, int i) const { return static_cast<float>(q[(h * T_q + t) * d_k + i]); }
  float k_at(int g, int j, int i) const { return static_cast<float>(k[(g * T_k + j) * d_k + i]); }
  float v_at(int g, int j, int d) const { return static_cast<float>(v[(g * T_k + j) * d_v + d]); }
};

/// Numbers N(0, 1), rounded to a type.
inline Inputs random_inputs(sdpa::Generator& generator, Dtype dtype, int groups = 1,
                            int heads_of_group = 1) {
  const auto any = [&](int first, int last) {
    return std::uniform_int_distribution(first, last)(generator);
  };
  Inputs in{groups * heads_of_group,
            groups,
            any(20, 70),
            any(30, 140),
            any(6, 48),
            any(6, 40),
            {},
            {},
            {}};
  in.q = sdpa::normal(generator, in.H * in.T_q * in.d_k, 1, dtype);
  in.k = sdpa::normal(generator, in.G * in.T_k * in.d_k, 1, dtype);
  in.v = sdpa::normal(generator, in.G * in.T_k * in.d_v, 1, dtype);
  return in;
}

/// What a kernel does at each step; as it stands, what is right without a mask.
struct Kernel {
  float scale;
  std::function<int(int h)> key_head;
  std::function<bool(int h, int t, int j)> sees = [](int, int, int) { return true; };
  std::optional<float> hidden_score{};  ///< hidden keys take part with this score
  bool hidden_have_values = true;       ///< ... and with their values
  std::function<float(int t, int j)> bias = [](int, int) { return 0.0f; };
  float bias_before_scale = 0;  ///< times the bias, added to the products
  std::optional<float> softcap{};
  std::function<float(int h, float largest)> more = [](int, float) {
    return 0.0f;
  };  ///< of the sum
  bool divides = true;
  int tile = 1 << 30;  ///< of keys, between two looks at the maximum
  bool rescales_output = true;
  std::function<float(float)> round = [](float x) { return x; };  ///< of q and k

  explicit Kernel(const Inputs& in)
      : scale(static_cast<float>(1 / std::sqrt(static_cast<double>(in.d_k)))),
        key_head([n = in.H / in.G](int h) { return h / n; }) {}
};

/// (H, T_q, d_v)
inline std::vector<double> output(const Inputs& in, const Kernel& kernel) {
  std::vector<double> o;
  std::vector<float> s(static_cast<std::size_t>(in.T_k)), o_t(static_cast<std::size_t>(in.d_v));
  for (int h = 0; h < in.H; ++h)
    for (int t = 0; t < in.T_q; ++t) {
      const int g = kernel.key_head(h);
      for (int j = 0; j < in.T_k; ++j) {
        float dot = kernel.bias_before_scale * kernel.bias(t, j);
        for (int i = 0; i < in.d_k; ++i)
          dot += kernel.round(in.q_at(h, t, i)) * kernel.round(in.k_at(g, j, i));
        s[j] = dot * kernel.scale;
        if (kernel.softcap) s[j] = *kernel.softcap * std::tanh(s[j] / *kernel.softcap);
        if (kernel.bias_before_scale == 0) s[j] += kernel.bias(t, j);
        if (!kernel.sees(h, t, j)) s[j] = kernel.hidden_score.value_or(-HUGE_VALF);
      }
      float largest = -HUGE_VALF, total = 0;
      std::fill(o_t.begin(), o_t.end(), 0.0f);
      for (int first = 0; first < in.T_k;) {
        const int last = kernel.tile < in.T_k - first ? first + kernel.tile : in.T_k;
        const float before = largest;
        for (int j = first; j < last; ++j) largest = std::max(largest, s[j]);
        const float rescale = largest == before ? 1 : std::exp(before - largest);
        total *= rescale;
        if (kernel.rescales_output)
          for (float& o_td : o_t) o_td *= rescale;
        for (int j = first; j < last; ++j) {
          if (s[j] == -HUGE_VALF) continue;
          const float w = std::exp(s[j] - largest);
          total += w;
          if (!kernel.hidden_have_values && !kernel.sees(h, t, j)) continue;
          for (int d = 0; d < in.d_v; ++d) o_t[d] += w * in.v_at(g, j, d);
        }
        first = last;
      }
      total += kernel.more(h, largest);
      for (const float o_td : o_t)
        o.push_back(!kernel.divides ? o_td : total == 0 ? 0 : o_td / total);
    }
  return o;
}

}  // namespace faulty
