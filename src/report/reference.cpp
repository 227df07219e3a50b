#include "report/reference.h"

#include <algorithm>

namespace sdpa {

Reference::Reference(const HeadsOf& heads, const Arithmetic& arithmetic, int threads)
    : arithmetic_(arithmetic),
      threads_(threads),
      exact_(heads({.dtype = type_of_exact_results(arithmetic.output), .threads = threads})),
      rounded_(heads({.dtype = arithmetic.output, .threads = threads})) {}

const KernelBound& Reference::bound_of(Index head) {
  if (head != bounded_) {
    const Head operands = problem().head(head);
    bound_.emplace(operands.q.array(), operands.k.array(), operands.v.array(), arithmetic_,
                   threads_);
    bounded_ = head;
  }
  return *bound_;
}

ReferenceRows Reference::rows(Index first, Index count) {
  ReferenceRows rows{
      right_values(exact_.rows(first, count).output, arithmetic_.output,
                   [&](Index row, Index more) { return rounded_.rows(first + row, more).output; }),
      {}};
  const Index T_q = problem().n.T_q, d_v = problem().n.d_v;
  for (Index row = 0; row < count;) {
    const Index t = (first + row) % T_q, of_head = std::min(T_q - t, count - row);
    const std::span<const double> o(rows.right.unrounded.data() + row * d_v,
                                    static_cast<std::size_t>(of_head * d_v));
    const textbook::Values allowed = bound_of((first + row) / T_q).allowed(t, o);
    rows.allowed.insert(rows.allowed.end(), allowed.begin(), allowed.end());
    row += of_head;
  }
  return rows;
}

}  // namespace sdpa
