#pragma once

#include "array/dtype.h"
#include "array/view.h"
#include "exact/big_float.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// Keys with the same score: order[begin] ... order[end - 1] of a list of keys.
struct KeyGroup {
  Index begin, end;
  Index count() const { return end - begin; }
};

/// The average of values [keys], rounded once, if the values of every group have the same mean and
/// that is seen in doubles: then it is the average, whatever the weights of the groups are.
std::optional<double> common_mean(std::span<const double> values, std::span<const Index> order,
                                  std::span<const KeyGroup> groups, Dtype dtype);

/// sum / count, rounded once.
double round_mean(const BigFloat& sum, Index count, Dtype dtype);

/// The keys of a head in groups whose scores are known to be equal.
class EqualRows {
 public:
  /// Keys that hold the same numbers, which have equal scores in every row (seldom, such a group comes
  /// in several pieces); or all of them, as a row of q of nothing but zeros sees them.
  EqualRows(const MatrixView& k, bool is_zero_query);

  std::span<const Index> order() const { return order_; }
  std::span<const KeyGroup> groups() const { return groups_; }

 private:
  std::vector<Index> order_;
  std::vector<KeyGroup> groups_;
};

}  // namespace sdpa
