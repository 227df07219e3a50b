#include "report/wrong_kernels.h"

#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sdpa {

namespace {

using Values = std::vector<double>;

Values values(const Array& array) {
  Values all(static_cast<std::size_t>(array.shape().element_count()));
  read_elements(array, 0, array.shape().element_count(), all.data());
  return all;
}

/// One head in float64.
struct Head {
  Index T_q, T_k, d_k, d_v;
  Values q, k, v;

  Head(const Array& q_array, const Array& k_array, const Array& v_array)
      : T_q(q_array.shape()[0]),
        T_k(k_array.shape()[0]),
        d_k(k_array.shape()[1]),
        d_v(v_array.shape()[1]),
        q(values(q_array)),
        k(values(k_array)),
        v(values(v_array)) {}
};

/// s[j] = scale * sum_i q_t[i] * k[j][i] for j < T_k
void scores(const Head& n, Index t, const Values& k, Index T_k, double scale, Values& s) {
  s.resize(static_cast<std::size_t>(T_k));
  for (Index j = 0; j < T_k; ++j) {
    double dot = 0;
    for (Index i = 0; i < n.d_k; ++i) dot += n.q[t * n.d_k + i] * k[j * n.d_k + i];
    s[j] = scale * dot;
  }
}

void softmax(Values& s) {
  const double largest = *std::max_element(s.begin(), s.end());
  double sum = 0;
  for (double& w_j : s) sum += w_j = std::exp(w_j - largest);
  for (double& w_j : s) w_j /= sum;
}

/// o_t[d] = sum_j w[j] * v[j][d] for j < w.size()
void weighted_sum(const Head& n, const Values& w, const Values& v, double* o_t) {
  std::fill_n(o_t, n.d_v, 0.0);
  for (std::size_t j = 0; j < w.size(); ++j)
    for (Index d = 0; d < n.d_v; ++d) o_t[d] += w[j] * v[static_cast<Index>(j) * n.d_v + d];
}

/// Writes row t of a wrong result.
using Row = std::function<void(Index t, double* o_t)>;

/// Attention over the first `T_k` keys with another scale, or with other keys and values.
Row attention_row(const Head& n, const Values& k, const Values& v, Index T_k, double scale) {
  return [&n, &k, &v, T_k, scale, s = Values()](Index t, double* o_t) mutable {
    scores(n, t, k, T_k, scale, s);
    softmax(s);
    weighted_sum(n, s, v, o_t);
  };
}

/// Weights that sum to one over the queries: w[t][j] = exp(s[t][j]) / sum_t exp(s[t][j]).
Row softmax_over_queries(const Head& n, double scale) {
  Values largest(static_cast<std::size_t>(n.T_k), -HUGE_VAL), sum(largest.size(), 0.0), s;
  for (Index t = 0; t < n.T_q; ++t) {
    scores(n, t, n.k, n.T_k, scale, s);
    for (Index j = 0; j < n.T_k; ++j) {
      const double before = largest[j];
      largest[j] = std::max(before, s[j]);
      sum[j] = sum[j] * std::exp(before - largest[j]) + std::exp(s[j] - largest[j]);
    }
  }
  return [&n, scale, largest, sum, s](Index t, double* o_t) mutable {
    scores(n, t, n.k, n.T_k, scale, s);
    for (Index j = 0; j < n.T_k; ++j) s[j] = std::exp(s[j] - largest[j]) / sum[j];
    weighted_sum(n, s, n.v, o_t);
  };
}

/// The rows of one wrong kernel; nothing if the shapes do not allow it, or make it right.
struct Candidate {
  std::string_view name;
  Row (*rows)(const Head& n, double scale);
};

constexpr Candidate kCandidates[] = {
    {"zeros",
     [](const Head& n, double) -> Row {
       return [&n](Index, double* o_t) { std::fill_n(o_t, n.d_v, 0.0); };
     }},
    {"mean of v",
     [](const Head& n, double) -> Row {
       if (n.T_k == 1) return nullptr;
       return [&n, w = Values(static_cast<std::size_t>(n.T_k), 1.0 / static_cast<double>(n.T_k))](
                  Index, double* o_t) { weighted_sum(n, w, n.v, o_t); };
     }},
    {"unscaled scores",
     [](const Head& n, double) -> Row {
       if (n.T_k == 1 || n.d_k == 1) return nullptr;
       return attention_row(n, n.k, n.v, n.T_k, 1);
     }},
    {"softmax over the queries", softmax_over_queries},
    {"without the last key",
     [](const Head& n, double scale) -> Row {
       if (n.T_k == 1) return nullptr;
       return attention_row(n, n.k, n.v, n.T_k - 1, scale);
     }},
    {"k and v swapped",
     [](const Head& n, double scale) -> Row {
       if (n.d_k != n.d_v) return nullptr;
       return attention_row(n, n.v, n.k, n.T_k, scale);
     }},
};

/// What the bound says of one wrong kernel on one head.
WrongKernelFate fate(const Head& n, const Row& row, const Bounds& bounds, Dtype output) {
  auto fate = WrongKernelFate::untried;
  Values o_t(static_cast<std::size_t>(n.d_v));
  for (Index t = 0; t < n.T_q; ++t) {
    row(t, o_t.data());
    for (Index d = 0; d < n.d_v; ++d) {
      const double right = bounds.output[t * n.d_v + d];
      if (!std::isfinite(right)) continue;
      if (!(std::fabs(o_t[d] - right) <= bounds.allowed[t * n.d_v + d]))
        return WrongKernelFate::rejected;
      if (rounded(o_t[d], output) != rounded(right, output)) fate = WrongKernelFate::accepted;
    }
  }
  return fate;
}

}  // namespace

WrongKernels::WrongKernels() {
  for (const Candidate& candidate : kCandidates) kernels_.push_back({candidate.name});
}

void WrongKernels::try_on(const Array& q, const Array& k, const Array& v, const Bounds& bounds,
                          Dtype output) {
  const Head head(q, k, v);
  const double scale = 1 / std::sqrt(static_cast<double>(head.d_k));
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    WrongKernelFate& so_far = kernels_[i].fate;
    if (so_far == WrongKernelFate::rejected) continue;
    const Row row = kCandidates[i].rows(head, scale);
    if (row) so_far = std::max(so_far, fate(head, row, bounds, output));
  }
}

}  // namespace sdpa
