#pragma once

#include "exact/norms.h"
#include "stage/head.h"

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace sdpa {

/// A set of keys.
class KeySet {
 public:
  explicit KeySet(Index T_k) : words_(static_cast<std::size_t>((T_k + 63) / 64)) {}

  void insert(Index j) { words_[word(j)] |= bit(j); }
  bool contains(Index j) const { return (words_[word(j)] & bit(j)) != 0; }
  /// Ascending.
  std::vector<Index> keys() const;

  auto operator<=>(const KeySet&) const = default;

 private:
  static std::size_t word(Index j) { return static_cast<std::size_t>(j) / 64; }
  static std::uint64_t bit(Index j) { return std::uint64_t{1} << (j % 64); }

  std::vector<std::uint64_t> words_;
};

/// The keys of a row that may have a weight worth speaking of: the score of each other one is more
/// than `gap` below the largest, and so is the one that the kernel computes for it in float64.
///
/// Often the largest key is not among them, if it stands for a mask; what is known of these few is
/// then much more than norms of all keys tell.
struct NearKeys {
  KeySet keys;
  Index count;  ///< of them, at least one
  double gap;
  double products;  ///< at least sum_i |q_i k_ji| for every one of them
};

/// The near keys of some rows of q, all of the same head.
std::vector<NearKeys> near_keys(const Head& head, const Norms& norms, std::span<const Index> rows,
                                double gap);

}  // namespace sdpa
