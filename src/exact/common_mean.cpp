#include "exact/common_mean.h"

#include "exact/exact_sum.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

namespace sdpa {

namespace {

/// Holds the sum of any two doubles.
constexpr mpfr_prec_t kPairPrecision = 2112;

BigFloat big(const ExactSum& sum) {
  BigFloat exact(kPairPrecision);
  mpfr_set_d(exact, sum.high, MPFR_RNDN);
  mpfr_add_d(exact, exact, sum.low, MPFR_RNDN);
  return exact;
}

/// Whether a / a_count is b / b_count, as far as doubles show; a and b are exact.
bool same_mean(const ExactSum& a, Index a_count, const ExactSum& b, Index b_count) {
  if (a_count == b_count) return a == b;
  const auto n = static_cast<double>(a_count), m = static_cast<double>(b_count);
  const double sums[] = {a.high, a.low, b.high, b.low}, counts[] = {m, m, -n, -n};
  return exact_dot(sums, counts, 4) == ExactSum{};
}

}  // namespace

std::optional<double> common_mean(std::span<const double> values, std::span<const Index> order,
                                  std::span<const KeyGroup> groups, Dtype dtype) {
  std::vector<double> of_group;
  ExactSum first;
  for (const KeyGroup& group : groups) {
    of_group.clear();
    for (Index at = group.begin; at < group.end; ++at)
      of_group.push_back(values[static_cast<std::size_t>(order[static_cast<std::size_t>(at)])]);
    const ExactSum sum = exact_sum(of_group.data(), group.count());
    if (!sum.exact()) return std::nullopt;
    if (group.begin == 0)
      first = sum;
    else if (!same_mean(sum, group.count(), first, groups[0].count()))
      return std::nullopt;
  }
  return round_mean(big(first), groups[0].count(), dtype);
}

double round_mean(const BigFloat& sum, Index count, Dtype dtype) {
  constexpr mpfr_prec_t kPrecision = 64;
  BigFloat mean(kPrecision);
  if (mpfr_div_ui(mean, sum, static_cast<unsigned long>(count), MPFR_RNDZ) != 0) {
    // Half a unit further from zero: on the same side of every boundary as the quotient.
    mpfr_prec_round(mean, kPrecision + 1, MPFR_RNDN);
    if (mpfr_sgn(static_cast<mpfr_srcptr>(mean)) > 0)
      mpfr_nextabove(mean);
    else
      mpfr_nextbelow(mean);
  }
  return round_real(mean, dtype);
}

EqualRows::EqualRows(const MatrixView& k, bool is_zero_query)
    : order_(static_cast<std::size_t>(k.rows())) {
  std::iota(order_.begin(), order_.end(), Index{0});
  if (is_zero_query) {
    groups_.push_back({0, k.rows()});
    return;
  }
  const auto d_k = static_cast<std::size_t>(k.columns());
  std::vector<double> row(d_k), before(d_k);
  std::vector<std::uint64_t> hashes;
  for (Index j = 0; j < k.rows(); ++j) {
    k.read_rows(j, 1, row.data());
    std::uint64_t hash = 0;
    for (double x : row)  // + 0.0: zeros of both signs are the same number
      hash = std::rotl((hash ^ std::bit_cast<std::uint64_t>(x + 0.0)) * 0x9e3779b97f4a7c15, 29);
    hashes.push_back(hash);
  }
  const auto hash_of = [&](Index j) { return hashes[static_cast<std::size_t>(j)]; };
  std::ranges::stable_sort(order_, {}, hash_of);
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const auto index = static_cast<Index>(at);
    bool is_new = at == 0 || hash_of(order_[at]) != hash_of(order_[at - 1]);
    if (!is_new) {
      k.read_rows(order_[at], 1, row.data());
      k.read_rows(order_[at - 1], 1, before.data());
      is_new = row != before;
    }
    if (is_new) groups_.push_back({index, index});
    groups_.back().end = index + 1;
  }
}

}  // namespace sdpa
