#include "report/bound.h"

#include "base/parallel.h"
#include "report/row_bound.h"

#include <algorithm>

namespace sdpa {

Bounds error_bounds(const Array& q, const Array& k, const Array& v, const Arithmetic& arithmetic,
                    int threads) {
  const KeysAndValues head(k, v);
  const Index T_q = q.shape()[0];
  const auto count = static_cast<std::size_t>(T_q * head.d_v);
  Bounds bounds{std::vector<double>(count), std::vector<double>(count)};
  constexpr Index kRowsOfATask = 16;
  parallel_for(threads, (T_q + kRowsOfATask - 1) / kRowsOfATask, [&](Index task) {
    RowBound row(head, arithmetic);
    std::vector<double> q_t(static_cast<std::size_t>(head.d_k));
    for (Index t = task * kRowsOfATask; t < std::min(T_q, (task + 1) * kRowsOfATask); ++t) {
      read_elements(q, t * head.d_k, head.d_k, q_t.data());
      row.compute(q_t.data(), bounds.output.data() + t * head.d_v,
                  bounds.allowed.data() + t * head.d_v);
    }
  });
  return bounds;
}

}  // namespace sdpa
