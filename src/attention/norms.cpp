#include "attention/norms.h"

#include "base/parallel.h"
#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sdpa {

namespace {

/// A sum of n squares is rounded by less than n 2^-53 of itself (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 3.1), and its root by half of that. n is d_k, or keys
/// of a chunk and chunks. Squares that underflow lose at most 2^-1074 each.
constexpr double kAbove = 1 + 0x1p-30;
constexpr double kUnderflow = 0x1p-1040;

double root_bound(double sum_of_squares) {
  return std::sqrt(sum_of_squares + kUnderflow) * kAbove;
}

using Squares = std::vector<double>;

Squares zeros(Index count) {
  return Squares(static_cast<std::size_t>(count));
}

void raise_to(Squares& largest, const Squares& x) {
  for (std::size_t i = 0; i < x.size(); ++i) largest[i] = std::max(largest[i], x[i]);
}

Index chains_of(Index d_k) {
  return (d_k + kernel::kFeatureChain - 1) / kernel::kFeatureChain;
}

/// Raises `chains` and `prefixes`, the squares of Norms::k_chains and k_prefixes, to those of
/// `rows` rows x [rows][d_k], and returns the sum of all squares.
template <int rows>
double raise_to_rows(const double* x, Index d_k, Squares& chains, Squares& prefixes) {
  double prefix[rows] = {};
  for (Index first = 0; first < d_k; first += kernel::kFeatureChain) {
    double chain[rows] = {};
    for (Index i = first; i < std::min(first + kernel::kFeatureChain, d_k); ++i) {
      double& largest = chains[static_cast<std::size_t>(i)];
      for (int r = 0; r < rows; ++r) {
        chain[r] += x[r * d_k + i] * x[r * d_k + i];
        largest = std::max(largest, chain[r]);
      }
    }
    double& largest = prefixes[static_cast<std::size_t>(first / kernel::kFeatureChain)];
    for (int r = 0; r < rows; ++r) {
      prefix[r] += chain[r];
      largest = std::max(largest, prefix[r]);
    }
  }
  return std::accumulate(prefix, prefix + rows, 0.0);
}

/// Of some rows of k and v.
struct Measured {
  double k_all;
  Squares k_chains, k_prefixes, v_largest, v;
};

Measured measure(const Array& k, const Array& v, Index first, Index last) {
  constexpr Index kRows = 8;  // at once: sums that need not wait for each other
  const Index d_k = k.shape()[1], d_v = v.shape()[1];
  Measured m{0, zeros(d_k), zeros(chains_of(d_k)), zeros(d_v), zeros(d_v)};
  Squares rows = zeros(kRows * std::max(d_k, d_v));
  for (Index j = first; j < last; j += kRows) {
    const Index count = std::min(kRows, last - j);
    read_elements(k, j * d_k, count * d_k, rows.data());
    if (count == kRows)
      m.k_all += raise_to_rows<kRows>(rows.data(), d_k, m.k_chains, m.k_prefixes);
    else
      for (Index r = 0; r < count; ++r)
        m.k_all += raise_to_rows<1>(rows.data() + r * d_k, d_k, m.k_chains, m.k_prefixes);

    read_elements(v, j * d_v, count * d_v, rows.data());
    for (Index r = 0; r < count; ++r)
      for (Index d = 0; d < d_v; ++d) {
        const double value = rows[static_cast<std::size_t>(r * d_v + d)];
        const auto column = static_cast<std::size_t>(d);
        m.v_largest[column] = std::max(m.v_largest[column], std::fabs(value));
        m.v[column] += value * value;
      }
  }
  return m;
}

}  // namespace

Norms measure_norms(const Array& k, const Array& v, int threads) {
  constexpr Index kChunk = 4096;
  const Index T_k = k.shape()[0];
  std::vector<Measured> chunks(static_cast<std::size_t>((T_k + kChunk - 1) / kChunk));
  parallel_for(threads, std::ssize(chunks), [&](Index c) {
    chunks[static_cast<std::size_t>(c)] =
        measure(k, v, c * kChunk, std::min((c + 1) * kChunk, T_k));
  });

  Measured all = std::move(chunks.front());
  for (std::size_t c = 1; c < chunks.size(); ++c) {
    all.k_all += chunks[c].k_all;
    raise_to(all.k_chains, chunks[c].k_chains);
    raise_to(all.k_prefixes, chunks[c].k_prefixes);
    raise_to(all.v_largest, chunks[c].v_largest);
    for (std::size_t d = 0; d < all.v.size(); ++d) all.v[d] += chunks[c].v[d];
  }
  for (Squares* squares : {&all.k_chains, &all.k_prefixes, &all.v})
    std::ranges::transform(*squares, squares->begin(), root_bound);
  const double k_norm = all.k_prefixes.back();
  return {k_norm,
          root_bound(all.k_all),
          std::move(all.k_chains),
          std::move(all.k_prefixes),
          std::move(all.v_largest),
          std::move(all.v)};
}

QueryNorms query_norms(const Norms& norms, const double* q_t) {
  Squares chains(norms.k_chains.size()), prefixes(norms.k_prefixes.size());
  raise_to_rows<1>(q_t, std::ssize(chains), chains, prefixes);
  // By Cauchy and Schwarz a partial sum is at most the product of the norms of what it is made of.
  double partial_sums = 0;
  for (std::size_t i = 0; i < chains.size(); ++i)
    partial_sums += root_bound(chains[i]) * norms.k_chains[i];
  for (std::size_t chain = 1; chain < prefixes.size(); ++chain)
    partial_sums += root_bound(prefixes[chain]) * norms.k_prefixes[chain];
  return {root_bound(prefixes.back()), partial_sums * kAbove};
}

}  // namespace sdpa
