#pragma once

#include "exact/real_average.h"
#include "exact/real_scores.h"

#include <optional>
#include <vector>

namespace sdpa {

/// Values of one row of a head as real numbers, rounded once: the last step of the ladder. The row's
/// scores are only computed if a value is asked for.
class RealRow {
 public:
  /// Row t of q, on the keys that it sees. The head must outlive this.
  RealRow(const Head& head, Index t, Dtype dtype) : head_(head), t_(t), dtype_(dtype) {}

  /// Output d.
  double output(Index d);
  /// The weight of key j, which it sees.
  double weight(Index j);

 private:
  RealAverage& average();

  const Head& head_;
  const Index t_;
  const Dtype dtype_;
  std::vector<Index> keys_;
  std::vector<double> column_;
  std::optional<RealScores> scores_;
  std::optional<RealAverage> average_;
};

}  // namespace sdpa
