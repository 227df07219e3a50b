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
  const Index d_v = problem().n.d_v;
  for (Index row = 0; row < count;) {
    const Index head = problem().head_of_row(first + row);
    const RowRange all = problem().rows_of(head);
    const Index t = first + row - all.first, of_head = std::min(all.count - t, count - row);
    const std::span<const double> o(rows.right.unrounded.data() + row * d_v,
                                    static_cast<std::size_t>(of_head * d_v));
    if (problem().head(head).n.T_k != 0) {
      const textbook::Values allowed = bound_of(head).allowed(t, o);
      rows.allowed.insert(rows.allowed.end(), allowed.begin(), allowed.end());
    } else {  // rows of a sequence without keys are what they are, without an error
      rows.allowed.resize(rows.allowed.size() + o.size(), 0);
    }
    row += of_head;
  }
  return rows;
}

}  // namespace sdpa
