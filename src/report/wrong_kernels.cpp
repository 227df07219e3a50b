#include "report/wrong_kernels.h"

#include "report/textbook.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace sdpa {

namespace {

using textbook::Values;

/// The first candidates: a bound that accepts one of them says nothing about the output.
constexpr std::size_t kVacuous = 2;

Values row_of(const Array& q, Index t) {
  return textbook::values_of(MatrixView(q).part(t, 1));
}

/// One head, and the rows of it on which wrong kernels are tried.
struct Head {
  const Array &q, &k, &v;
  const textbook::Head& values;
  const std::vector<CloseRow>& rows;
  const Settings plainly;

  std::size_t T_k() const { return static_cast<std::size_t>(values.T_k); }
};

/// Writes the row of a wrong result that belongs to rows[r].
using Row = std::function<void(std::size_t r, Values& o_t)>;

Row fixed_weights(const Head& n, Values w) {
  return [&n, w](std::size_t, Values& o_t) { textbook::weighted_sum(w, n.values.v, o_t); };
}

/// Attention to the first `keys` keys with another scale.
Row scaled(const Head& n, double scale, std::size_t keys) {
  return [&n, scale, keys](std::size_t r, Values& o_t) {
    Values s(n.T_k()), w;
    textbook::scores(row_of(n.q, n.rows[r].t).data(), n.values.k_transposed, scale, s);
    s.resize(keys);
    textbook::softmax(s, w);
    textbook::weighted_sum(w, n.values.v, o_t);
  };
}

Row swapped(const Head& n) {
  const textbook::Head other(n.v, n.k);
  return [&n, other](std::size_t r, Values& o_t) {
    Values s(n.T_k()), w;
    textbook::scores(row_of(n.q, n.rows[r].t).data(), other.k_transposed, other.scale, s);
    textbook::softmax(s, w);
    textbook::weighted_sum(w, other.v, o_t);
  };
}

/// Weights that sum to one over the queries: w[t][j] = exp(s[t][j]) / sum_t exp(s[t][j]). They are
/// what attention gives if k asks and q answers, with values that are 1 for one query and else 0.
Row softmax_over_queries(const Head& n) {
  constexpr std::size_t kMostRows = 8;
  const std::size_t rows = std::min(n.rows.size(), kMostRows);
  if (rows == 0) return nullptr;
  Values ones(static_cast<std::size_t>(n.q.shape()[0]) * rows);
  for (std::size_t r = 0; r < rows; ++r) ones[static_cast<std::size_t>(n.rows[r].t) * rows + r] = 1;
  Array v(Shape({n.q.shape()[0], static_cast<Index>(rows)}), Dtype::float64);
  store_rounded(ones.data(), std::ssize(ones), v.dtype(), v.mutable_data());
  const Values weights = textbook::transposed(attention(n.k, n.q, v, n.plainly).output);
  return [&n, rows, weights](std::size_t r, Values& o_t) {
    o_t = n.rows[r].output;
    if (r >= rows) return;
    const auto first = weights.begin() + static_cast<Index>(r) * n.values.T_k;
    textbook::weighted_sum(Values(first, first + n.values.T_k), n.values.v, o_t);
  };
}

/// The rows of one wrong kernel; nothing if the shapes do not allow it, or make it right.
struct Candidate {
  std::string_view name;
  Row (*rows)(const Head& n);
  bool plain = false;  // whether it comes from plain attention
};

constexpr Candidate kCandidates[] = {
    {"zeros", [](const Head& n) { return fixed_weights(n, Values()); }},
    {"mean of v",
     [](const Head& n) {
       if (n.T_k() == 1) return Row();
       return fixed_weights(n, Values(n.T_k(), 1.0 / static_cast<double>(n.T_k())));
     }},
    {"unscaled scores",
     [](const Head& n) {
       return n.T_k() == 1 || n.values.d_k == 1 ? Row() : scaled(n, 1, n.T_k());
     }},
    {"softmax over the queries", softmax_over_queries, true},
    {"without the last key",
     [](const Head& n) { return n.T_k() == 1 ? Row() : scaled(n, n.values.scale, n.T_k() - 1); }},
    {"k and v swapped",
     [](const Head& n) { return n.values.d_k != n.values.d_v ? Row() : swapped(n); }},
};

/// What the bound says of one wrong kernel on one head.
///
/// sizes       [d_v]   of the largest values
/// uncertain   how far its rows may be from what that kernel gives, relative to them
WrongKernelFate fate(const Head& n, const Row& row, const Values& sizes, double uncertain,
                     Dtype output) {
  auto fate = WrongKernelFate::untried;
  Values o_t(sizes.size());
  for (std::size_t r = 0; r < n.rows.size(); ++r) {
    row(r, o_t);
    for (std::size_t d = 0; d < o_t.size(); ++d) {
      const double right = n.rows[r].output[d];
      if (!std::isfinite(right)) continue;
      const double error = std::fabs(o_t[d] - right), slack = uncertain * sizes[d];
      if (!(error <= n.rows[r].allowed[d] + slack)) return WrongKernelFate::rejected;
      if (error > slack && rounded(o_t[d], output) != rounded(right, output))
        fate = WrongKernelFate::accepted;
    }
  }
  return fate;
}

}  // namespace

WrongKernels::WrongKernels() {
  for (const Candidate& candidate : kCandidates) kernels_.push_back({candidate.name});
}

bool WrongKernels::try_on(const Array& q, const Array& k, const Array& v, const CloseLook& look,
                          Dtype output, int threads) {
  const Head head{
      q,         k,
      v,         look.head,
      look.rows, {.precision = look.precision, .dtype = Dtype::float64, .threads = threads}};
  rows_ += std::ssize(head.rows);
  Values sizes(static_cast<std::size_t>(head.values.d_v));
  for (std::size_t at = 0; at < head.values.v.size(); ++at) {
    const double size = std::fabs(head.values.v[at]);
    if (std::isfinite(size)) sizes[at % sizes.size()] = std::max(sizes[at % sizes.size()], size);
  }
  bool vacuous = false;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    if (i >= kVacuous && kernels_[i].fate == WrongKernelFate::rejected) continue;
    const Row row = kCandidates[i].rows(head);
    if (!row) continue;
    const bool in_float32 = kCandidates[i].plain && look.precision == Precision::float32;
    const WrongKernelFate here = fate(head, row, sizes, in_float32 ? 0x1p-15 : 0x1p-44, output);
    kernels_[i].fate = std::max(kernels_[i].fate, here);
    vacuous = vacuous || (i < kVacuous && here == WrongKernelFate::accepted);
  }
  return vacuous;
}

}  // namespace sdpa
