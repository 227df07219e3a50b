#include "exact/real_row.h"

#include <algorithm>

namespace sdpa {

RealAverage& RealRow::average() {
  if (!average_) {
    free_reals_with_thread();
    keys_ = head_.visible.keys(t_, head_.n.T_k);
    scores_.emplace(head_, t_, keys_);
    average_.emplace(*scores_, dtype_);
  }
  return *average_;
}

double RealRow::output(Index d) {
  RealAverage& of_keys = average();
  column_.clear();
  for (Index j : keys_) column_.push_back(head_.v.at(j, d));
  return of_keys.average(column_);
}

double RealRow::weight(Index j) {
  RealAverage& of_keys = average();
  return of_keys.weight(std::ranges::lower_bound(keys_, j) - keys_.begin());
}

}  // namespace sdpa
