#include "exact/real_row.h"

#include <numeric>

namespace sdpa {

RealAverage& RealRow::average() {
  if (!average_) {
    free_reals_with_thread();
    keys_.resize(static_cast<std::size_t>(head_.n.T_k));
    std::iota(keys_.begin(), keys_.end(), Index{0});
    scores_.emplace(head_, t_, keys_);
    average_.emplace(*scores_, dtype_);
  }
  return *average_;
}

double RealRow::output(Index d) {
  column_.resize(static_cast<std::size_t>(head_.n.T_k));
  head_.v.read_column(d, column_.data());
  return average().average(column_);
}

double RealRow::weight(Index j) {
  return average().weight(j);
}

}  // namespace sdpa
