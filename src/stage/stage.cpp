#include "stage/stage.h"

#include "base/parallel.h"
#include "stage/group.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

namespace sdpa {

namespace {

using Rows = std::span<const RowTask>;

/// Below this many multiplications a thread costs more than it brings.
constexpr Index kWorthAThread = 1 << 21;

/// Groups for each thread where they differ in what they see; the largest are begun first.
constexpr Index kSharesOfDifferent = 4;

/// Pairs of a query and a key that it may see, as far as integers tell.
Index seen_pairs(Rows rows) {
  Index pairs = 0;
  for (const RowTask& row : rows) {
    const Head& head = *row.head;
    pairs += head.visible.range(row.t, head.n.T_k).count();
  }
  return pairs;
}

/// The rows, those with the same k and v together in the order in which these first appear. Heads
/// that share keys lie apart where each has several sequences.
std::vector<RowTask> gather_by_keys(Rows rows) {
  using Keys = std::tuple<const std::byte*, const std::byte*, Index>;
  std::map<Keys, std::vector<RowTask>*> seen;
  std::deque<std::vector<RowTask>> runs;
  const Head* before = nullptr;
  std::vector<RowTask>* run = nullptr;
  for (const RowTask& row : rows) {
    const Head& head = *row.head;
    if (&head != before) {
      std::vector<RowTask>*& known = seen[{head.k.row(0), head.v.row(0), head.n.T_k}];
      if (known == nullptr) known = &runs.emplace_back();
      run = known;
      before = &head;
    }
    run->push_back(row);
  }
  std::vector<RowTask> gathered;
  gathered.reserve(rows.size());
  for (const std::vector<RowTask>& some : runs)
    gathered.insert(gathered.end(), some.begin(), some.end());
  return gathered;
}

/// The rows that have the same k and v.
std::vector<Rows> split_by_keys(Rows rows) {
  std::vector<Rows> heads;
  while (!rows.empty()) {
    const auto end = std::ranges::find_if(
        rows, [&](const RowTask& row) { return !have_same_keys(*row.head, *rows.front().head); });
    const auto count = static_cast<std::size_t>(end - rows.begin());
    heads.push_back(rows.first(count));
    rows = rows.subspan(count);
  }
  return heads;
}

/// Cuts rows of one head into at most so many groups, as equal as possible in whole vectors.
void add_groups(Rows rows, Index groups, Index lanes, std::vector<Rows>& to) {
  const Index count = std::ssize(rows), vectors = (count + lanes - 1) / lanes;
  groups = std::min(groups, vectors);
  for (Index g = 0; g < groups; ++g) {
    const Index first = vectors * g / groups * lanes;
    const Index last = std::min(vectors * (g + 1) / groups * lanes, count);
    to.push_back(
        rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
  }
}

}  // namespace

template <class Number>
void run_stage(const kernel::Kernel<Number>& kernel, std::span<const RowTask> tasks, int threads,
               const StageSink<Number>& sink) {
  if (tasks.empty()) return;
  const std::vector<RowTask> rows = gather_by_keys(tasks);
  const Extents& n = rows.front().head->n;
  const Index work = seen_pairs(rows) * (n.d_k + n.d_v);
  const Index workers = std::clamp<Index>(work / kWorthAThread, 1, threads);

  const std::vector<Rows> heads = split_by_keys(rows);
  const auto fewest = [&](Rows of_head) {
    return (std::ssize(of_head) + kernel.queries - 1) / kernel.queries;
  };
  Index fewest_groups = 0;
  for (const Rows& of_head : heads) fewest_groups += fewest(of_head);

  // Few queries and many keys: threads share the keys of a group. Else the groups, as many as the
  // threads can share evenly; where groups differ, several for each.
  const bool share_keys = fewest_groups < workers && std::ranges::any_of(heads, [&](Rows of_head) {
                            return span_count(*of_head.front().head) >= 2 * workers;
                          });
  const bool differ = workers > 1 && std::ranges::any_of(heads, [&](Rows of_head) {
                        const Head& head = *of_head.front().head;
                        return !head.visible.is_everything() || head.n.T_k != n.T_k;
                      });
  const Index shares = differ ? kSharesOfDifferent * workers : workers;
  const Index wanted = share_keys ? fewest_groups : (fewest_groups + shares - 1) / shares * shares;
  std::vector<Rows> groups;
  for (const Rows& of_head : heads)
    add_groups(of_head, (fewest(of_head) * wanted + fewest_groups - 1) / fewest_groups,
               kernel.lanes, groups);
  if (differ) std::ranges::stable_sort(groups, std::ranges::greater(), seen_pairs);

  parallel_for(static_cast<int>(share_keys ? 1 : workers), std::ssize(groups), [&](Index g) {
    QueryGroup<Number> group(kernel, groups[static_cast<std::size_t>(g)]);
    group.run(static_cast<int>(share_keys ? workers : 1), sink);
  });
}

template void run_stage(const kernel::Kernel<float>&, std::span<const RowTask>, int,
                        const StageSink<float>&);
template void run_stage(const kernel::Kernel<double>&, std::span<const RowTask>, int,
                        const StageSink<double>&);

}  // namespace sdpa
