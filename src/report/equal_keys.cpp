#include "report/equal_keys.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sdpa {

namespace {

using textbook::Values;

constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio

std::uint64_t mixed(std::uint64_t hash, double value) {
  return (hash ^ std::bit_cast<std::uint64_t>(value)) * kOdd + (hash >> 29);
}

/// For each hash, how often it occurs.
Values multiplicities(const std::vector<std::uint64_t>& hashes) {
  std::vector<std::uint64_t> sorted = hashes;
  std::ranges::sort(sorted);
  Values counts;
  for (std::uint64_t hash : hashes) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), hash);
    counts.push_back(static_cast<double>(last - first));
  }
  return counts;
}

}  // namespace

EqualKeys::EqualKeys(const textbook::Keys& of, const Values& bias) {
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(of.T_k));
  const double* value = of.k_transposed.data();
  for (Index i = 0; i < of.d_k; ++i)
    for (std::uint64_t& hash : hashes) hash = mixed(hash, *value++);
  for (std::size_t j = 0; j < bias.size(); ++j) hashes[j] = mixed(hashes[j], bias[j]);
  keys = multiplicities(hashes);
  value = of.v.data();
  for (std::uint64_t& hash : hashes)
    for (Index d = 0; d < of.d_v; ++d) hash = mixed(hash, *value++);
  pairs = multiplicities(hashes);
}

void ScoreGroups::find(const Values& s, const Values& w, double width) {
  const auto interval = [&](std::size_t j) {
    const double score =
        width > 0 && std::fabs(s[j]) < 0x1p52 * width ? std::floor(s[j] / width) : s[j];
    return std::bit_cast<std::uint64_t>(score + 0.0);
  };
  constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  slots_.assign(std::bit_ceil(2 * w.size()), kNobody);
  group_of_.resize(w.size());
  position_.assign(w.size(), 0);  // first the number of keys of a group, at its first key
  for (std::uint32_t j = 0; j < w.size(); ++j) {
    if (!(w[j] > 0)) continue;
    const std::uint64_t mine = interval(j);
    std::size_t slot = (mine * kOdd >> 20) & (slots_.size() - 1);
    while (slots_[slot] != kNobody && interval(slots_[slot]) != mine)
      slot = (slot + 1) & (slots_.size() - 1);
    if (slots_[slot] == kNobody) slots_[slot] = j;
    group_of_[j] = slots_[slot];
    ++position_[group_of_[j]];
  }
  ends_.clear();
  std::uint32_t end = 0;
  for (std::uint32_t j = 0; j < w.size(); ++j) {
    if (!(w[j] > 0) || group_of_[j] != j) continue;
    const std::uint32_t count = position_[j];
    position_[j] = count < 2 ? kNobody : end;
    if (count < 2) continue;
    ends_.push_back(end += count);
  }
  keys_.resize(end);
  for (std::uint32_t j = 0; j < w.size(); ++j)
    if (w[j] > 0 && position_[group_of_[j]] != kNobody) keys_[position_[group_of_[j]]++] = j;
}

}  // namespace sdpa
