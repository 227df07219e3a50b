#include "report/wrong_kernels.h"

#include "report/textbook.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sdpa {

namespace {

using textbook::Values;

/// One head in float64, and what goes through the rows of a wrong result.
struct Head {
  Index T_q, T_k, d_k, d_v;
  double scale;
  Values q, k, v;
  Values k_transposed, v_transposed;

  Head(const Array& q_array, const Array& k_array, const Array& v_array)
      : T_q(q_array.shape()[0]),
        T_k(k_array.shape()[0]),
        d_k(k_array.shape()[1]),
        d_v(v_array.shape()[1]),
        scale(1 / std::sqrt(static_cast<double>(d_k))),
        q(textbook::values_of(q_array)),
        k(textbook::values_of(k_array)),
        v(textbook::values_of(v_array)),
        k_transposed(textbook::transposed(k_array)),
        v_transposed(textbook::transposed(v_array)) {}

  const double* q_row(Index t) const { return q.data() + t * d_k; }
  Values of_keys() const { return Values(static_cast<std::size_t>(T_k)); }
};

/// Writes row t of a wrong result.
using Row = std::function<void(Index t, Values& o_t)>;

Row fixed_weights(const Head& n, Values w) {
  return [&n, w](Index, Values& o_t) { textbook::weighted_sum(w, n.v, o_t); };
}

Row unscaled(const Head& n) {
  return [&n, s = n.of_keys(), w = Values()](Index t, Values& o_t) mutable {
    textbook::scores(n.q_row(t), n.k_transposed, 1, s);
    textbook::softmax(s, w);
    textbook::weighted_sum(w, n.v, o_t);
  };
}

Row without_last_key(const Head& n) {
  return [&n, s = n.of_keys(), w = Values()](Index t, Values& o_t) mutable {
    s.resize(static_cast<std::size_t>(n.T_k));
    textbook::scores(n.q_row(t), n.k_transposed, n.scale, s);
    s.pop_back();
    textbook::softmax(s, w);
    textbook::weighted_sum(w, n.v, o_t);
  };
}

Row swapped(const Head& n) {
  return [&n, s = n.of_keys(), w = Values()](Index t, Values& o_t) mutable {
    textbook::scores(n.q_row(t), n.v_transposed, n.scale, s);
    textbook::softmax(s, w);
    textbook::weighted_sum(w, n.k, o_t);
  };
}

/// Weights that sum to one over the queries: w[t][j] = exp(s[t][j]) / sum_t exp(s[t][j]).
Row softmax_over_queries(const Head& n) {
  Values largest(static_cast<std::size_t>(n.T_k), -HUGE_VAL), sum = n.of_keys(), s = n.of_keys();
  for (Index t = 0; t < n.T_q; ++t) {
    textbook::scores(n.q_row(t), n.k_transposed, n.scale, s);
    for (std::size_t j = 0; j < s.size(); ++j) {
      const double before = largest[j];
      largest[j] = std::max(before, s[j]);
      sum[j] = sum[j] * std::exp(before - largest[j]) + std::exp(s[j] - largest[j]);
    }
  }
  return [&n, largest, sum, s](Index t, Values& o_t) mutable {
    textbook::scores(n.q_row(t), n.k_transposed, n.scale, s);
    for (std::size_t j = 0; j < s.size(); ++j) s[j] = std::exp(s[j] - largest[j]) / sum[j];
    textbook::weighted_sum(s, n.v, o_t);
  };
}

/// The rows of one wrong kernel; nothing if the shapes do not allow it, or make it right.
struct Candidate {
  std::string_view name;
  Row (*rows)(const Head& n);
};

constexpr Candidate kCandidates[] = {
    {"zeros", [](const Head& n) { return fixed_weights(n, Values()); }},
    {"mean of v",
     [](const Head& n) {
       const auto T_k = static_cast<std::size_t>(n.T_k);
       return n.T_k == 1 ? Row() : fixed_weights(n, Values(T_k, 1.0 / static_cast<double>(T_k)));
     }},
    {"unscaled scores",
     [](const Head& n) { return n.T_k == 1 || n.d_k == 1 ? Row() : unscaled(n); }},
    {"softmax over the queries", softmax_over_queries},
    {"without the last key",
     [](const Head& n) { return n.T_k == 1 ? Row() : without_last_key(n); }},
    {"k and v swapped", [](const Head& n) { return n.d_k != n.d_v ? Row() : swapped(n); }},
};

/// What the bound says of one wrong kernel on one head.
WrongKernelFate fate(const Head& n, const Row& row, const KernelBounds& bounds, Dtype output) {
  auto fate = WrongKernelFate::untried;
  Values o_t(static_cast<std::size_t>(n.d_v));
  for (Index t = 0; t < n.T_q; ++t) {
    row(t, o_t);
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

void WrongKernels::try_on(const Array& q, const Array& k, const Array& v,
                          const KernelBounds& bounds, Dtype output) {
  const Head head(q, k, v);
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    WrongKernelFate& so_far = kernels_[i].fate;
    if (so_far == WrongKernelFate::rejected) continue;
    const Row row = kCandidates[i].rows(head);
    if (row) so_far = std::max(so_far, fate(head, row, bounds, output));
  }
}

}  // namespace sdpa
