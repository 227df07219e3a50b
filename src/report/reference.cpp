#include "report/reference.h"

#include "base/parallel.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace sdpa {

Reference::Reference(const HeadsOf& heads, const Arithmetic& arithmetic, int threads)
    : arithmetic_(arithmetic),
      threads_(threads),
      exact_(heads({.dtype = type_of_exact_results(arithmetic.output), .threads = threads})),
      rounded_(heads({.dtype = arithmetic.output, .threads = threads})) {}

Index Reference::rows_at_a_time() const {
  // What the bounds of several heads need beside their operands takes little memory.
  constexpr Index kMostBytes = Index{1} << 25;
  const Extents& n = problem().n;
  const Index bytes_of_head = 4 * n.T_k * (n.d_v + 32);  // of all sequences, if packed
  const Index heads = std::max<Index>(1, kMostBytes / std::max<Index>(1, bytes_of_head));
  return std::max<Index>(1, std::min(exact_.rows_at_a_time(), heads * n.T_q));
}

/// Makes bounds of heads first ... last - 1, and forgets those before them.
void Reference::learn_heads(Index first, Index last) {
  bounds_.erase(bounds_.begin(), bounds_.lower_bound(first));
  std::vector<Index> unknown;
  for (Index h = first; h < last; ++h)
    if (!bounds_.contains(h) && problem().rows_of(h).count != 0) unknown.push_back(h);
  const bool share_heads = std::ssize(unknown) >= threads_;
  std::vector<std::unique_ptr<KernelBound>> made(unknown.size());
  parallel_for(share_heads ? threads_ : 1, std::ssize(unknown), [&](Index i) {
    made[static_cast<std::size_t>(i)] = std::make_unique<KernelBound>(
        exact_.head(unknown[static_cast<std::size_t>(i)]), exact_.mask().empty_rows(), arithmetic_,
        share_heads ? 1 : threads_);
  });
  for (std::size_t i = 0; i < made.size(); ++i) bounds_.emplace(unknown[i], std::move(*made[i]));
}

const CloseLook& Reference::close_look(Index head) {
  if (!bounds_.contains(head)) learn_heads(head, head + 1);
  return bounds_.at(head).close_look();
}

bool Reference::is_behind(Index row) {
  const Index head = problem().head_of_row(row);
  return close_look(head).is_behind(row - problem().rows_of(head).first);
}

ReferenceRows Reference::rows(Index first, Index count) {
  ReferenceRows rows{
      right_values(exact_.rows(first, count).output, arithmetic_.output,
                   [&](Index row, Index more) { return rounded_.rows(first + row, more).output; }),
      {}};
  if (count != 0) rows.allowed = allowed(first, rows.right.unrounded);
  return rows;
}

textbook::Values Reference::allowed(Index first, std::span<const double> o) {
  const Index d_v = problem().n.d_v;
  const Index count = d_v == 0 ? 0 : std::ssize(o) / d_v;
  textbook::Values all;
  if (count == 0) return all;
  const Index first_head = problem().head_of_row(first);
  const Index last_head = problem().head_of_row(first + count - 1) + 1;
  learn_heads(first_head, last_head);

  // Heads whose scores need the same precision are summed together.
  std::vector<HeadRows> parts[2];
  Index width = 0;
  const auto for_each_head = [&](auto act) {
    for (Index h = first_head; h < last_head; ++h) {
      const RowRange of_head = problem().rows_of(h);
      if (of_head.count == 0) continue;
      const Index begin = std::max(first, of_head.first);
      const Index end = std::min(first + count, of_head.end());
      act(bounds_.at(h), begin - of_head.first, end - begin, begin - first);
    }
  };
  for_each_head([&](const KernelBound& bound, Index t, Index rows, Index at) {
    width = std::max(width, bound.sum_columns());
    const bool wide = bound.close_look().precision == Precision::float64;
    for (const HeadRows& part : bound.rows_to_sum(t, rows, at)) parts[wide].push_back(part);
  });
  Array sums[2];
  constexpr Precision kPrecisions[] = {Precision::float32, Precision::float64};
  for (int i : {0, 1})
    if (!parts[i].empty()) sums[i] = plain_sums(parts[i], count, width, kPrecisions[i], threads_);
  for_each_head([&](const KernelBound& bound, Index t, Index rows, Index at) {
    const int i = bound.close_look().precision == Precision::float64;
    const Array* of_head = nullptr;
    Array part;
    if (bound.sum_columns() != 0 && !parts[i].empty()) {
      part = sums[i].rows(at, rows);
      of_head = &part;
    }
    const textbook::Values allowed = bound.allowed(
        t, o.subspan(static_cast<std::size_t>(at * d_v), static_cast<std::size_t>(rows * d_v)),
        of_head);
    all.insert(all.end(), allowed.begin(), allowed.end());
  });
  return all;
}

}  // namespace sdpa
