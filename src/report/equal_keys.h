#pragma once

#include "report/textbook.h"

#include <cstdint>
#include <vector>

namespace sdpa {

/// How many keys that a query sees have the same row of k, and the same bias, as key j, and how many
/// the same of v, too: equal terms have equal rounding errors.
struct EqualKeys {
  textbook::Values keys, pairs;  // [T_k]

  EqualKeys(const textbook::Keys& of, const textbook::Values& bias);
};

/// Groups of keys whose scores are equal, or near each other.
class ScoreGroups {
 public:
  /// Finds the groups of several keys: those with scores s in one interval of this width, or with
  /// equal ones if it is 0. Keys of weight 0 belong to none.
  void find(const textbook::Values& s, const textbook::Values& w, double width);

  /// Adds to sums[d] the square of the sum of x(j, d) over each group.
  template <class Term>
  void add_squares(textbook::Values& sums, Term x) {
    std::size_t at = 0;
    total_.resize(sums.size());
    for (std::size_t end : ends_) {
      total_.assign(sums.size(), 0);
      for (; at < end; ++at)
        for (std::size_t d = 0; d < sums.size(); ++d) total_[d] += x(keys_[at], d);
      for (std::size_t d = 0; d < sums.size(); ++d) sums[d] += total_[d] * total_[d];
    }
  }

 private:
  std::vector<std::size_t> keys_;  // group by group
  std::vector<std::size_t> ends_;  // of the groups in keys_
  textbook::Values total_;
  std::vector<std::uint32_t> slots_, group_of_, position_;
};

}  // namespace sdpa
