#pragma once

#include "attention/named_array.h"

#include <string>
#include <vector>

namespace sdpa {

/// Where sequences begin that lie behind one another along T: sequence b has the rows offset[b] ...
/// offset[b + 1] - 1 of all. Default: one sequence of all rows.
class Packing {
 public:
  Packing() = default;

  /// Offsets as arrays: (B + 1,) for B sequences.
  ///
  /// total_q, total_k    rows of q and of k
  /// q_name, k_name      how messages call these
  ///
  /// Throws Error, beginning with the name of the offsets and giving both values, if they are not
  /// integers in a row, do not begin with 0, decrease, do not end at the total, or if those of q and
  /// k are not of the same number of sequences.
  Packing(const NamedArray& q, const NamedArray& k, Index total_q, Index total_k,
          const std::string& q_name, const std::string& k_name);

  bool is_packed() const { return !q_.empty(); }
  Index sequences() const { return is_packed() ? std::ssize(q_) - 1 : 1; }

  /// Only where is_packed().
  Index first_query(Index b) const { return q_[static_cast<std::size_t>(b)]; }
  Index first_key(Index b) const { return k_[static_cast<std::size_t>(b)]; }
  Index queries(Index b) const { return first_query(b + 1) - first_query(b); }
  Index keys(Index b) const { return first_key(b + 1) - first_key(b); }

  /// The sequence with row t of q.
  Index sequence_of(Index t) const;

  /// Pairs of a query and a key of the same sequence.
  double pairs() const;

  /// "64 sequences, query lengths 1 to 512, key lengths 1 to 512"
  std::string text() const;

 private:
  std::vector<Index> q_, k_;
};

/// "5, 11, 22", or "1 to 512" if there are many.
std::string values_text(const std::vector<Index>& values);

}  // namespace sdpa
