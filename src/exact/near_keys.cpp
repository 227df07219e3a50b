#include "exact/near_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sdpa {

namespace {

constexpr Index kBlock = 64;  // keys at once, so that they stay in the nearest cache
constexpr Index kLanes = 8;   // sums that need not wait for each other

/// A block of keys, one feature of all behind another: [d_k][kBlock], zeros behind the last key.
void read_transposed(const MatrixView& k, Index first, Index count, std::vector<double>& rows,
                     std::vector<double>& transposed) {
  const Index d_k = k.columns();
  rows.assign(static_cast<std::size_t>(kBlock * d_k), 0);
  transposed.resize(rows.size());
  k.read_rows(first, count, rows.data());
  for (Index j = 0; j < kBlock; ++j)
    for (Index i = 0; i < d_k; ++i)
      transposed[static_cast<std::size_t>(i * kBlock + j)] =
          rows[static_cast<std::size_t>(j * d_k + i)];
}

/// dots[j] = sum_i q_i k_ji and sizes[j] = sum_i |q_i k_ji| over a block.
void dot_block(const double* q_t, const double* k, Index d_k, double* dots, double* sizes) {
  for (Index j = 0; j < kBlock; j += kLanes) {
    double dot[kLanes] = {}, size[kLanes] = {};
    for (Index i = 0; i < d_k; ++i)
      for (Index lane = 0; lane < kLanes; ++lane) {
        const double product = q_t[i] * k[i * kBlock + j + lane];
        dot[lane] += product;
        size[lane] += std::fabs(product);
      }
    std::copy_n(dot, kLanes, dots + j);
    std::copy_n(size, kLanes, sizes + j);
  }
}

/// Row t of q times a power of two, so that no sum of products overflows.
struct ScaledQuery {
  std::vector<double> q_t;
  double power = 1;
  double lost = 0;  // of a dot product, at most, where numbers underflowed
};

ScaledQuery read_scaled(const Head& head, const Norms& norms, Index t) {
  ScaledQuery query{std::vector<double>(static_cast<std::size_t>(head.n.d_k))};
  head.read_query(t, query.q_t.data());
  double largest = 0;
  for (double q : query.q_t) largest = std::max(largest, std::fabs(q));
  if (largest == 0 || query_norms(norms, query.q_t.data()).norm * norms.k < 0x1p1000) return query;
  // Keys are below 2^1024, features at most 2^27.
  query.power = std::ldexp(1, -30 - std::ilogb(largest));
  for (double& q : query.q_t) {
    const double scaled = q * query.power;
    if (scaled / query.power != q) query.lost += 0x1p-50;  // 2^-1074 of a key
    q = scaled;
  }
  return query;
}

/// A sum of d_k products in any order, rounded at each step or (fma) only where it is added, is off
/// by at most d_k u times the sum of their absolute values, to first order, and by half the
/// smallest number for each product that underflows. Twice that stands for two such sums: the one
/// here and the kernel's, which is added to at most d_k times, too. The sum of absolute values is
/// itself rounded, by the same.
double dot_error(Index d_k, double size) {
  const auto features = static_cast<double>(d_k);
  return (2 * features + 4) * 0x1p-53 * (1 + 0x1p-20) * size + features * 0x1p-1073;
}

NearKeys choose(const Head& head, const double* dots, const double* sizes, const ScaledQuery& query,
                double gap) {
  const Index T_k = head.n.T_k;
  const auto error = [&](Index j) { return dot_error(head.n.d_k, sizes[j]) + query.lost; };
  double largest = -HUGE_VAL;
  for (Index j = 0; j < T_k; ++j) largest = std::max(largest, dots[j] - error(j));
  const double root = 1 / head.score_scale_high;
  const double limit =
      largest - gap * root * query.power * (1 + 0x1p-30) - 0x1p-52 * std::fabs(largest);
  NearKeys near{KeySet(T_k), 0, gap, 0};
  for (Index j = 0; j < T_k; ++j) {
    if (dots[j] + error(j) < limit) continue;
    near.keys.insert(j);
    ++near.count;
    near.products = std::max(near.products, sizes[j]);
  }
  near.products = (near.products * (1 + 0x1p-20) + 0x1p-1040 + query.lost) / query.power;
  return near;
}

}  // namespace

std::vector<Index> KeySet::keys() const {
  std::vector<Index> keys;
  for (std::size_t w = 0; w < words_.size(); ++w)
    for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1)
      keys.push_back(static_cast<Index>(w) * 64 + std::countr_zero(rest));
  return keys;
}

std::vector<NearKeys> near_keys(const Head& head, const Norms& norms, std::span<const Index> rows,
                                double gap) {
  constexpr Index kScores = Index{1} << 20;  // at a time
  const Index blocks = (head.n.T_k + kBlock - 1) / kBlock, stride = blocks * kBlock;
  const auto at_once = static_cast<std::size_t>(std::max<Index>(1, kScores / stride));
  std::vector<double> dots, sizes, k_rows, k_transposed;
  std::vector<NearKeys> result;
  for (std::size_t first = 0; first < rows.size(); first += at_once) {
    const auto some = rows.subspan(first, std::min(at_once, rows.size() - first));
    std::vector<ScaledQuery> queries;
    for (Index t : some) queries.push_back(read_scaled(head, norms, t));
    dots.resize(some.size() * static_cast<std::size_t>(stride));
    sizes.resize(dots.size());
    for (Index j = 0; j < head.n.T_k; j += kBlock) {
      read_transposed(head.k, j, std::min(kBlock, head.n.T_k - j), k_rows, k_transposed);
      for (std::size_t r = 0; r < some.size(); ++r) {
        const std::size_t at = r * static_cast<std::size_t>(stride) + static_cast<std::size_t>(j);
        dot_block(queries[r].q_t.data(), k_transposed.data(), head.n.d_k, &dots[at], &sizes[at]);
      }
    }
    for (std::size_t r = 0; r < some.size(); ++r) {
      const std::size_t at = r * static_cast<std::size_t>(stride);
      result.push_back(choose(head, &dots[at], &sizes[at], queries[r], gap));
    }
  }
  return result;
}

}  // namespace sdpa
