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
  const Index first = keys_.front(), count = keys_.back() + 1 - first;
  column_.resize(static_cast<std::size_t>(count));
  head_.v.part(first, count).read_column(d, column_.data());
  for (std::size_t i = 0; i < keys_.size(); ++i)
    column_[i] = column_[static_cast<std::size_t>(keys_[i] - first)];
  column_.resize(keys_.size());
  if (head_.has_sink()) column_.push_back(0);
  return of_keys.average(column_);
}

double RealRow::weight(Index j) {
  RealAverage& of_keys = average();
  return of_keys.weight(std::ranges::lower_bound(keys_, j) - keys_.begin());
}

}  // namespace sdpa
