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
/// Numerical Algorithms", 2nd ed., section 3.1), and its root by half of that. n is a few times
/// d_k, or keys of a chunk and chunks. Squares that underflow lose at most 2^-1074 each.
constexpr double kAbove = 1 + 0x1p-24;
constexpr double kUnderflow = 0x1p-1030;

double root_bound(double sum_of_squares) {
  return std::sqrt(sum_of_squares + kUnderflow) * kAbove;
}

using Squares = std::vector<double>;

Squares zeros(Index count) {
  return Squares(static_cast<std::size_t>(count));
}

/// The squares of the norms of `rows` rows.
template <int rows>
struct RowSquares {
  double norm[rows] = {};
  double partial[rows] = {};  // of P
};

/// x [rows][d_k]
template <int rows>
RowSquares<rows> row_squares(const double* x, Index d_k) {
  RowSquares<rows> squares;
  for (Index first = 0; first < d_k; first += kernel::kFeatureChain) {
    double chain[rows] = {};
    for (Index i = first; i < std::min(first + kernel::kFeatureChain, d_k); ++i)
      for (int r = 0; r < rows; ++r) {
        chain[r] += x[r * d_k + i] * x[r * d_k + i];
        squares.partial[r] += chain[r];
      }
    for (int r = 0; r < rows; ++r) {
      squares.norm[r] += chain[r];
      if (first > 0) squares.partial[r] += squares.norm[r];
    }
  }
  return squares;
}

/// Squares of norms of some rows of k and v.
struct Measured {
  double k, k_partial, k_all;
  Squares v_largest, v, v_partial, v_roundings;
};

void add_value_row(const double* v_j, Index d_v, double partial, double rounded, Measured& m) {
  for (Index d = 0; d < d_v; ++d) {
    const auto column = static_cast<std::size_t>(d);
    const double value = v_j[d], value_partial = value * partial, value_rounded = value * rounded;
    m.v_largest[column] = std::max(m.v_largest[column], std::fabs(value));
    m.v[column] += value * value;
    m.v_partial[column] += value_partial * value_partial;
    m.v_roundings[column] += value_rounded * value_rounded;
  }
}

Measured measure(const Array& k, const Array& v, Index first, Index last) {
  constexpr Index kRows = 8;  // at once: sums that need not wait for each other
  const Index d_k = k.shape()[1], d_v = v.shape()[1];
  Measured m{0, 0, 0, zeros(d_v), zeros(d_v), zeros(d_v), zeros(d_v)};
  Squares k_rows = zeros(kRows * d_k), v_rows = zeros(kRows * d_v);
  for (Index j = first; j < last; j += kRows) {
    // Rows beyond the last remain as they are, which does no harm, or are zeros.
    const Index count = std::min(kRows, last - j);
    read_elements(k, j * d_k, count * d_k, k_rows.data());
    read_elements(v, j * d_v, count * d_v, v_rows.data());
    const RowSquares<kRows> squares = row_squares<kRows>(k_rows.data(), d_k);
    for (Index r = 0; r < count; ++r) {
      m.k = std::max(m.k, squares.norm[r]);
      m.k_partial = std::max(m.k_partial, squares.partial[r]);
      m.k_all += squares.norm[r];
      add_value_row(v_rows.data() + r * d_v, d_v, root_bound(squares.partial[r]), roundings(j + r),
                    m);
    }
  }
  return m;
}

void add(Squares& sums, const Squares& x) {
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] += x[i];
}

}  // namespace

double roundings(Index j) {
  using namespace kernel;
  const Index in_chain = kKeyChain - j % kKeyChain;
  const Index in_block = (kKeyBlock - j % kKeyBlock + kKeyChain - 1) / kKeyChain;
  const Index in_span = (kKeySpan - j % kKeySpan + kKeyBlock - 1) / kKeyBlock;
  return static_cast<double>(in_chain + in_block + in_span + 1);
}

double most_roundings() {
  return roundings(0);
}

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
    const Measured& chunk = chunks[c];
    all.k = std::max(all.k, chunk.k);
    all.k_partial = std::max(all.k_partial, chunk.k_partial);
    all.k_all += chunk.k_all;
    for (std::size_t d = 0; d < all.v.size(); ++d)
      all.v_largest[d] = std::max(all.v_largest[d], chunk.v_largest[d]);
    add(all.v, chunk.v);
    add(all.v_partial, chunk.v_partial);
    add(all.v_roundings, chunk.v_roundings);
  }
  for (Squares* squares : {&all.v, &all.v_partial, &all.v_roundings})
    std::ranges::transform(*squares, squares->begin(), root_bound);
  return {root_bound(all.k),         root_bound(all.k_partial), root_bound(all.k_all),
          std::move(all.v_largest),  std::move(all.v),          std::move(all.v_partial),
          std::move(all.v_roundings)};
}

QueryNorms query_norms(const double* q_t, Index d_k) {
  const RowSquares<1> squares = row_squares<1>(q_t, d_k);
  return {root_bound(squares.norm[0]), root_bound(squares.partial[0])};
}

}  // namespace sdpa
