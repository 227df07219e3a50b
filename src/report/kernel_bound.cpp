#include "report/kernel_bound.h"

#include "base/parallel.h"
#include "report/row_error.h"

#include <algorithm>

namespace sdpa {

KernelBounds kernel_bounds(const Array& q, const Array& k, const Array& v,
                           const Arithmetic& arithmetic, int threads) {
  const TextbookHead head(k, v);
  const Index T_q = q.shape()[0];
  const auto count = static_cast<std::size_t>(T_q * head.d_v);
  KernelBounds bounds{std::vector<double>(count), std::vector<double>(count)};
  constexpr Index kRowsOfATask = 16;
  parallel_for(threads, (T_q + kRowsOfATask - 1) / kRowsOfATask, [&](Index task) {
    RowError row(head, arithmetic);
    for (Index t = task * kRowsOfATask; t < std::min(T_q, (task + 1) * kRowsOfATask); ++t) {
      row.compute(textbook::values_of(q.rows(t, 1)).data());
      std::ranges::copy(row.output(), bounds.output.begin() + t * head.d_v);
      std::ranges::copy(row.allowed(), bounds.allowed.begin() + t * head.d_v);
    }
  });
  return bounds;
}

}  // namespace sdpa
