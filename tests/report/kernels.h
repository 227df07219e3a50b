#pragma once

#include "array/float16.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

/// Attention kernels of one head as they are written elsewhere, in plain loops and in the
/// arithmetic of `Real`, to be judged. Operands are row-major values of some float type, held as
/// double.
namespace kernels {

using Values = std::vector<double>;

/// Extents and values of one head.
struct OneHead {
  int T_q, T_k, d_k, d_v;
  Values q, k, v;
  Values bias{};  // (T_q, T_k), added to the scaled scores, -inf hides the key; or empty

  double bias_of(int t, int j) const { return bias.empty() ? 0 : bias[t * T_k + j]; }
};

/// A number that is rounded to a 16-bit type after each operation.
template <std::uint16_t (*narrow)(double), double (*widen)(std::uint16_t)>
class Rounded {
 public:
  Rounded(double value = 0) : value_(widen(narrow(value))) {}
  operator double() const { return value_; }
  friend Rounded operator+(Rounded a, Rounded b) { return a.value_ + b.value_; }
  friend Rounded operator-(Rounded a, Rounded b) { return a.value_ - b.value_; }
  friend Rounded operator*(Rounded a, Rounded b) { return a.value_ * b.value_; }
  friend Rounded operator/(Rounded a, Rounded b) { return a.value_ / b.value_; }

 private:
  double value_;
};

using Float16 = Rounded<sdpa::double_to_float16, sdpa::float16_to_double>;
using Bfloat16 = Rounded<sdpa::double_to_bfloat16, sdpa::bfloat16_to_double>;

template <class Real>
Real exponential(Real x) {
  if constexpr (std::is_floating_point_v<Real>)
    return std::exp(x);
  else
    return std::exp(static_cast<double>(x));
}

/// In which order a sum is taken.
enum class Order { forward, backward, lanes_of_8, pairwise };
constexpr Order kOrders[] = {Order::forward, Order::backward, Order::lanes_of_8, Order::pairwise};

template <class Real>
Real sum(std::vector<Real> terms, Order order) {
  if (terms.empty()) return Real(0);
  if (order == Order::backward) std::reverse(terms.begin(), terms.end());
  if (order == Order::pairwise) {
    for (std::size_t n = terms.size(); n > 1; n = (n + 1) / 2)
      for (std::size_t i = 0; i < n / 2; ++i) {
        terms[i] = terms[2 * i] + terms[2 * i + 1];
        if (i == n / 2 - 1 && n % 2 != 0) terms[i + 1] = terms[n - 1];
      }
    return terms[0];
  }
  std::vector<Real> lanes(order == Order::lanes_of_8 ? 8 : 1, Real(0));
  for (std::size_t i = 0; i < terms.size(); ++i)
    lanes[i % lanes.size()] = lanes[i % lanes.size()] + terms[i];
  Real total = lanes[0];
  for (std::size_t lane = 1; lane < lanes.size(); ++lane) total = total + lanes[lane];
  return total;
}

template <class Real>
std::vector<Real> scores(const OneHead& p, int t, Order order) {
  const Real scale = Real(1 / std::sqrt(static_cast<double>(p.d_k)));
  std::vector<Real> s, products(static_cast<std::size_t>(p.d_k));
  for (int j = 0; j < p.T_k; ++j) {
    for (int i = 0; i < p.d_k; ++i)
      products[i] = Real(p.q[t * p.d_k + i]) * Real(p.k[j * p.d_k + i]);
    s.push_back(sum(products, order) * scale);
  }
  return s;
}

/// Scores, softmax and weighted sum one after the other. The weights are stored by `store`, after
/// the division.
template <class Real>
Values textbook(const OneHead& p, Order order, const std::function<double(double)>& store) {
  Values o;
  std::vector<Real> terms(static_cast<std::size_t>(p.T_k));
  for (int t = 0; t < p.T_q; ++t) {
    std::vector<Real> w = scores<Real>(p, t, order);
    const Real largest = *std::max_element(w.begin(), w.end());
    for (Real& w_j : w) w_j = exponential(Real(w_j - largest));
    const Real total = sum(w, order);
    for (Real& w_j : w) w_j = Real(store(w_j / total));
    for (int d = 0; d < p.d_v; ++d) {
      for (int j = 0; j < p.T_k; ++j) terms[j] = w[j] * Real(p.v[j * p.d_v + d]);
      o.push_back(sum(terms, order));
    }
  }
  return o;
}

/// Blocks of keys with a running maximum; the weights of a block are stored by `store` before the
/// second product, and the division comes last.
template <class Real>
Values flash(const OneHead& p, int block, const std::function<double(double)>& store) {
  Values o;
  for (int t = 0; t < p.T_q; ++t) {
    const std::vector<Real> s = scores<Real>(p, t, Order::forward);
    Real largest = Real(-HUGE_VAL), total = Real(0);
    std::vector<Real> o_t(static_cast<std::size_t>(p.d_v), Real(0));
    for (int first = 0; first < p.T_k; first += block) {
      const int end = std::min(first + block, p.T_k);
      const Real before = largest;
      for (int j = first; j < end; ++j) largest = std::max(largest, s[j]);
      const Real rescale = exponential(Real(before - largest));
      total = total * rescale;
      for (Real& o_td : o_t) o_td = o_td * rescale;
      for (int j = first; j < end; ++j) {
        const Real weight = exponential(Real(s[j] - largest));
        total = total + weight;
        for (int d = 0; d < p.d_v; ++d)
          o_t[d] = o_t[d] + Real(store(weight)) * Real(p.v[j * p.d_v + d]);
      }
    }
    for (Real o_td : o_t) o.push_back(o_td / total);
  }
  return o;
}

inline double as_it_is(double value) {
  return value;
}

/// How a kernel differs from the textbook without being wrong.
struct Way {
  const char* name;
  Order order = Order::forward;  ///< of sums over features, and over the keys of a block
  int block = 1 << 30;           ///< keys between two looks at the running maximum
  int splits = 1;                ///< parts of the keys, merged by their log-sum-exp
  bool divide_first = false;     ///< the weights, not the output; only of one block
  bool scale_q = false;          ///< not the scores
  bool exp2 = false;             ///< with scores times log2(e)
  bool rough_exp = false;        ///< two ulp off, to either side, but for 0
};

constexpr Way kWays[] = {
    {.name = "textbook", .divide_first = true},
    {.name = "textbook, backward", .order = Order::backward, .divide_first = true},
    {.name = "textbook, lanes", .order = Order::lanes_of_8, .divide_first = true},
    {.name = "textbook, pairwise", .order = Order::pairwise, .divide_first = true},
    {.name = "divided last"},
    {.name = "divided last, lanes", .order = Order::lanes_of_8},
    {.name = "divided last, pairwise, q scaled", .order = Order::pairwise, .scale_q = true},
    {.name = "tiles of 16", .block = 16},
    {.name = "tiles of 64, exp2, q scaled", .block = 64, .scale_q = true, .exp2 = true},
    {.name = "tiles of 256, lanes", .order = Order::lanes_of_8, .block = 256},
    {.name = "two splits", .block = 64, .splits = 2},
    {.name = "five splits, pairwise, exp2", .order = Order::pairwise, .splits = 5, .exp2 = true},
    {.name = "exp within two ulp", .divide_first = true, .rough_exp = true},
    {.name = "tiles of 32, exp within two ulp", .block = 32, .rough_exp = true},
};

/// What a kernel does to numbers beside computing in float32.
struct Stores {
  double (*weights)(double) = as_it_is;  ///< that enter the second product
  double (*scores)(double) = as_it_is;   ///< products, their scaled values, and these with a bias
  double (*factors)(double) = as_it_is;  ///< of products
  double (*exp_error)(double x) = [](double) { return 0.0; };  ///< relative, of exp(x)
};

inline float honest_exp(float x, const Way& way, const Stores& stores) {
  const float y = static_cast<float>((way.exp2 ? std::exp2(x) : std::exp(x)) *
                                     (1 + (x == 0 || std::isinf(x) ? 0 : stores.exp_error(x))));
  if (!way.rough_exp || x == 0 || std::isinf(x)) return y;
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const float to = (bits * 2654435761u >> 31) != 0 ? 0 : HUGE_VALF;
  return std::nextafter(std::nextafter(y, to), to);
}

/// Attention in float32 in one of these ways.
inline Values honest(const OneHead& p, const Way& way, const Stores& stores) {
  const auto factor = [&](float x) { return static_cast<float>(stores.factors(x)); };
  const auto score = [&](float x) { return static_cast<float>(stores.scores(x)); };
  const float log2e = 1.44269504088896340736f;
  const float scale = (way.exp2 ? log2e : 1) * static_cast<float>(1 / std::sqrt(double(p.d_k)));
  Values o;
  std::vector<float> products(static_cast<std::size_t>(p.d_k)), s(static_cast<std::size_t>(p.T_k));
  for (int t = 0; t < p.T_q; ++t) {
    for (int j = 0; j < p.T_k; ++j) {
      for (int i = 0; i < p.d_k; ++i) {
        const auto q_i = static_cast<float>(p.q[t * p.d_k + i]);
        products[i] = factor(way.scale_q ? q_i * scale : q_i) *
                      factor(static_cast<float>(p.k[j * p.d_k + i]));
      }
      s[j] = score(sum(products, way.order));
      if (!way.scale_q) s[j] = score(s[j] * scale);
      if (!p.bias.empty())
        s[j] = score(s[j] + (way.exp2 ? log2e : 1) * static_cast<float>(p.bias[t * p.T_k + j]));
    }
    std::vector<float> lse;
    std::vector<std::vector<float>> parts;
    for (int part = 0; part < way.splits; ++part) {
      const int end = p.T_k * (part + 1) / way.splits;
      float largest = -HUGE_VALF, total = 0;
      std::vector<float> o_t(static_cast<std::size_t>(p.d_v), 0.0f);
      for (int first = p.T_k * part / way.splits; first < end;) {
        const int last = way.block < end - first ? first + way.block : end;
        const float before = largest;
        for (int j = first; j < last; ++j) largest = std::max(largest, s[j]);
        if (largest == -HUGE_VALF) {  // nothing seen so far
          first = last;
          continue;
        }
        const float rescale = honest_exp(before - largest, way, stores);
        std::vector<float> w, terms;
        for (int j = first; j < last; ++j) w.push_back(honest_exp(s[j] - largest, way, stores));
        total = total * rescale + sum(w, way.order);
        for (float& w_j : w) {
          if (way.divide_first) w_j /= total;
          w_j = factor(static_cast<float>(stores.weights(w_j)));
        }
        for (int d = 0; d < p.d_v; ++d) {
          terms.clear();
          for (int j = first; j < last; ++j)
            terms.push_back(w[j - first] * factor(static_cast<float>(p.v[j * p.d_v + d])));
          o_t[d] = o_t[d] * rescale + sum(terms, way.order);
        }
        first = last;
      }
      if (total == 0) continue;  // no keys
      if (!way.divide_first)
        for (float& o_td : o_t) o_td /= total;
      lse.push_back(largest + (way.exp2 ? std::log2(total) : std::log(total)));
      parts.push_back(o_t);
    }
    const float largest = *std::max_element(lse.begin(), lse.end());
    float total = 0;
    for (float& part : lse) total += part = honest_exp(part - largest, way, stores);
    for (int d = 0; d < p.d_v; ++d) {
      float merged = 0;
      for (std::size_t part = 0; part < parts.size(); ++part)
        merged += lse[part] / total * parts[part][d];
      o.push_back(parts.size() == 1 ? parts[0][d] : merged);
    }
  }
  return o;
}

}  // namespace kernels
