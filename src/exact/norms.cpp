#include "exact/norms.h"

#include "base/parallel.h"
#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace sdpa {

namespace {

/// A sum of n squares is rounded by less than n 2^-53 of itself (Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd ed., section 3.1), and its root by half of that; factors of squares
/// add as little. n is d_k, or keys of a chunk and chunks. Squares that underflow lose at most
/// 2^-1074 each, times their factor; kUnderflow holds 2^54 of them.
constexpr double kAbove = 1 + 0x1p-24;
constexpr double kUnderflow = 0x1p-1020;

double root_bound(double sum_of_squares, double largest_factor = 1) {
  return std::sqrt(sum_of_squares + kUnderflow * largest_factor) * kAbove;
}

using Numbers = std::vector<double>;

Numbers zeros(Index count) {
  return Numbers(static_cast<std::size_t>(count));
}

/// n_i of Norms for every feature: the partial sums that follow in its chain, its own included, and
/// those of all chains from the second on that do not end before it.
Numbers partial_sums(Index d_k) {
  using kernel::kFeatureChain;
  const Index chains = (d_k + kFeatureChain - 1) / kFeatureChain;
  Numbers counts;
  for (Index i = 0; i < d_k; ++i) {
    const Index chain = i / kFeatureChain, end = std::min((chain + 1) * kFeatureChain, d_k);
    counts.push_back(static_cast<double>(end - i + chains - std::max<Index>(chain, 1)));
  }
  return counts;
}

/// Of a row: sum_i x_i^2 and sum_i n_i x_i^2.
struct RowSquares {
  double norm = 0, partial = 0;
};

RowSquares row_squares(const double* x, const Numbers& n) {
  constexpr Index kSums = 4;  // that need not wait for each other
  double norm[kSums] = {}, partial[kSums] = {};
  const Index d_k = std::ssize(n);
  Index i = 0;
  for (; i + kSums <= d_k; i += kSums)
    for (Index s = 0; s < kSums; ++s) {
      const double square = x[i + s] * x[i + s];
      norm[s] += square;
      partial[s] += n[static_cast<std::size_t>(i + s)] * square;
    }
  for (; i < d_k; ++i) {
    norm[0] += x[i] * x[i];
    partial[0] += n[static_cast<std::size_t>(i)] * (x[i] * x[i]);
  }
  return {(norm[0] + norm[1]) + (norm[2] + norm[3]),
          (partial[0] + partial[1]) + (partial[2] + partial[3])};
}

/// Squares of norms of some rows of k and v.
struct Measured {
  double k, k_partial, k_all;
  Numbers v_largest, v, v_partial, v_roundings;
};

/// Takes `rows` rows of v into the sums of all columns.
template <int rows>
void add_value_rows(const double* v, Index d_v, const double* partial, const double* rounded,
                    Measured& m) {
  for (Index d = 0; d < d_v; ++d) {
    const auto column = static_cast<std::size_t>(d);
    double largest = m.v_largest[column], norm = m.v[column], by_partial = m.v_partial[column],
           by_roundings = m.v_roundings[column];
    for (int r = 0; r < rows; ++r) {
      const double value = v[r * d_v + d], square = value * value;
      largest = std::max(largest, std::fabs(value));
      norm += square;
      by_partial += partial[r] * square;
      by_roundings += rounded[r] * square;
    }
    m.v_largest[column] = largest;
    m.v[column] = norm;
    m.v_partial[column] = by_partial;
    m.v_roundings[column] = by_roundings;
  }
}

Measured measure(const MatrixView& k, const MatrixView& v, const Numbers& n,
                 std::span<const KeyRun> runs) {
  constexpr Index kRows = 8;  // at once, so that sums of columns stay in registers
  const Index d_k = k.columns(), d_v = v.columns();
  Measured m{0, 0, 0, zeros(d_v), zeros(d_v), zeros(d_v), zeros(d_v)};
  Numbers k_rows = zeros(kRows * d_k), v_rows = zeros(kRows * d_v);
  const auto measure_rows = [&](Index j, Index count) {
    k.read_rows(j, count, k_rows.data());
    v.read_rows(j, count, v_rows.data());
    double partial[kRows], rounded[kRows];
    for (Index r = 0; r < count; ++r) {
      const RowSquares squares = row_squares(k_rows.data() + r * d_k, n);
      m.k = std::max(m.k, squares.norm);
      m.k_partial = std::max(m.k_partial, squares.partial);
      m.k_all += squares.norm;
      // What its squares lost to underflow, values up to 2^511 would bring back.
      partial[r] = squares.partial + kUnderflow * n.front();
      rounded[r] = roundings(j + r) * roundings(j + r);
    }
    if (count == kRows)
      add_value_rows<kRows>(v_rows.data(), d_v, partial, rounded, m);
    else
      for (Index r = 0; r < count; ++r)
        add_value_rows<1>(v_rows.data() + r * d_v, d_v, partial + r, rounded + r, m);
  };
  for (const KeyRun& run : runs)
    for (Index j = run.first; j < run.end; j += kRows)
      measure_rows(j, std::min(kRows, run.end - j));
  return m;
}

void add(Numbers& sums, const Numbers& x) {
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] += x[i];
}

/// Runs cut into pieces of at most so many keys, and the pieces gathered to as many.
std::vector<std::vector<KeyRun>> chunks_of(std::span<const KeyRun> runs, Index chunk) {
  std::vector<std::vector<KeyRun>> chunks(1);
  Index room = chunk;
  for (KeyRun run : runs)
    while (run.count() > 0) {
      if (room == 0) {
        chunks.emplace_back();
        room = chunk;
      }
      const Index end = std::min(run.end, run.first + room);
      chunks.back().push_back({run.first, end});
      room -= end - run.first;
      run.first = end;
    }
  return chunks;
}

}  // namespace

double roundings(Index j) {
  using namespace kernel;
  const Index in_chain = kKeyChain - j % kKeyChain;
  const Index in_block = (kKeyBlock - j % kKeyBlock + kKeyChain - 1) / kKeyChain;
  const Index in_span = (kKeySpan - j % kKeySpan + kKeyBlock - 1) / kKeyBlock;
  return static_cast<double>(in_chain + in_block + in_span + 1);
}

Norms measure_norms(const MatrixView& k, const MatrixView& v, int threads) {
  const KeyRun all{0, k.rows()};
  return measure_norms(k, v, {&all, 1}, threads);
}

Norms measure_norms(const MatrixView& k, const MatrixView& v, std::span<const KeyRun> runs,
                    int threads) {
  constexpr Index kChunk = 512;  // less is not worth a thread
  Numbers n = partial_sums(k.columns());
  const std::vector<std::vector<KeyRun>> parts = chunks_of(runs, kChunk);
  std::vector<Measured> chunks(parts.size());
  parallel_for(threads, std::ssize(chunks), [&](Index c) {
    const auto at = static_cast<std::size_t>(c);
    chunks[at] = measure(k, v, n, parts[at]);
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
  for (double& norm : all.v) norm = root_bound(norm);
  for (double& norm : all.v_partial) norm = root_bound(norm, std::max(all.k_partial, 1.0));
  for (double& norm : all.v_roundings) norm = root_bound(norm, roundings(0) * roundings(0));
  return {root_bound(all.k),        root_bound(all.k_partial, n.front()),
          root_bound(all.k_all),    std::move(n),
          std::move(all.v_largest), std::move(all.v),
          std::move(all.v_partial), std::move(all.v_roundings)};
}

QueryNorms query_norms(const Norms& norms, const double* q_t) {
  const RowSquares squares = row_squares(q_t, norms.partial_sums);
  return {root_bound(squares.norm), root_bound(squares.partial, norms.partial_sums.front())};
}

}  // namespace sdpa
