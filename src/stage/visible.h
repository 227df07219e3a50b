#pragma once

#include "array/array.h"
#include "kernel/blocks.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace sdpa {

/// Keys first ... end - 1; none if end is not above first.
struct KeyRun {
  Index first, end;
  Index count() const { return end > first ? end - first : 0; }
  bool operator==(const KeyRun&) const = default;
};

/// An array of numbers, or of truth values, as a matrix (T_q, T_k), read where it lies: a step of 0
/// repeats a row or an element.
struct Plane {
  Array array;
  Index first = 0, query_step = 0, key_step = 0;

  bool operator==(const Plane& other) const {
    return array.data() == other.array.data() && first == other.first &&
           query_step == other.query_step && key_step == other.key_step;
  }

  Index position(Index t, Index j) const { return first + t * query_step + j * key_step; }

  /// Elements (t, first) ... (t, first + count - 1).
  template <class Number>
  void read(Index t, Index first_key, Index count, Number* out) const {
    read_elements(array, position(t, first_key), key_step, count, out);
  }
};

/// Keys that a word of flags stands for: a chain of the kernel. Bit i is key i of the chain.
inline constexpr Index kWordKeys = kernel::kKeyChain;
static_assert(kWordKeys == 32);

/// Which keys the queries of one head see, and what is added to their scaled scores. All conditions
/// hold together. With nothing set every query sees every key.
struct Visible {
  static constexpr Index kOpen = Index{1} << 60;

  Index key_length = kOpen;    ///< query t sees key j only if j < key_length,
  Index query_length = kOpen;  ///< t < query_length,
  Index offset = 0;
  Index left = kOpen, right = kOpen;  ///< and t + offset - left <= j <= t + offset + right,
  std::optional<Plane> mask;          ///< and the element of this is not 0 (0 if it hides),
  bool mask_hides = false;
  std::optional<Plane> bias;  ///< and that of this is not -inf; it is added to the score

  /// Whether all conditions are the same; arrays, if they are in the same memory.
  bool operator==(const Visible&) const = default;

  /// Whether every query sees every key of so many, and nothing is added.
  bool is_everything() const {
    return key_length == kOpen && query_length == kOpen && left == kOpen && right == kOpen &&
           !mask && !bias;
  }

  /// The keys of T_k that query t sees as far as no array says otherwise.
  KeyRun range(Index t, Index T_k) const;

  /// Flags of keys first ... first + keys - 1, a word for each kWordKeys of them; `first` is a
  /// multiple of kWordKeys. Bits behind the last key are 0.
  void flags(Index t, Index first, Index keys, std::uint32_t* words) const;

  /// Those of T_k keys that query t sees, in ascending order.
  std::vector<KeyRun> runs(Index t, Index T_k) const;
  std::vector<Index> keys(Index t, Index T_k) const;

  /// The same for the queries from `first` on, counted from there.
  Visible from_query(Index first) const;
};

/// What a pass over the queries of a head shows.
struct Survey {
  std::vector<Index> counts;        ///< [T_q] keys that each query sees
  std::vector<std::uint32_t> seen;  ///< flags of the keys that some query sees

  bool is_seen(Index j) const {
    return (seen[static_cast<std::size_t>(j / kWordKeys)] >> (j % kWordKeys) & 1) != 0;
  }
  /// The runs among keys first ... end - 1 that some query sees.
  std::vector<KeyRun> seen_runs(Index first, Index end) const;
};

Survey survey(const Visible& visible, Index T_q, Index T_k, int threads);

/// The runs of set bits among flags; keys are counted from the first word.
std::vector<KeyRun> runs_of_flags(const std::uint32_t* words, Index keys);

}  // namespace sdpa
