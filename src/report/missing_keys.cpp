// Runs of keys that an output lacks.

#include "report/fault_search.h"
#include "report/suspects.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace sdpa {

namespace {

using textbook::Values;

/// How round the ends of a run are: the largest power of two that divides both.
int roundness(const KeyRun& run, Index T_k) {
  const auto ends = static_cast<unsigned long long>(run.first) |
                    static_cast<unsigned long long>(run.end == T_k ? 0 : run.end);
  return ends == 0 ? 64 : std::countr_zero(ends);
}

/// The rows whose weights are the most even, the first one most.
std::vector<const WitnessRow*> flattest(const Examiner& examiner, std::size_t most) {
  std::vector<std::pair<double, const WitnessRow*>> rows;
  for (const WitnessRow* row : examiner.comparable(32)) {
    const RowTerms terms = examiner.rows().terms({}, row->head, row->t);
    const double squares = std::inner_product(terms.b.begin(), terms.b.end(), terms.b.begin(), 0.0);
    rows.emplace_back(squares / (terms.sum * terms.sum), row);
  }
  std::ranges::sort(rows);
  std::vector<const WitnessRow*> first;
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) first.push_back(rows[i].second);
  return first;
}

/// What a row says of a run of keys that it lacks.
///
/// Without them, o (sum - sum_run b) = a v - sum_run a v. So the sums over j < end of b_j (v_j - o),
/// less those over j < first, are what is too much in all: sum (right - o).
class RunSums {
 public:
  RunSums(const Examiner& examiner, const WitnessRow& row) {
    const RowTerms terms = examiner.rows().terms({}, row.head, row.t);
    const std::size_t d_v = row.actual.size(), T_k = terms.b.size();
    double most = -1;
    for (std::size_t d = 0; d < d_v; ++d) {
      Values& sums = sums_.emplace_back(T_k + 1, 0.0);
      double spread = 0;
      for (std::size_t j = 0; j < T_k; ++j) {
        const double deviation =
            terms.b[j] * (terms.value(static_cast<Index>(j))[d] - row.actual[d]);
        sums[j + 1] = sums[j] + deviation;
        spread += std::fabs(deviation);
      }
      excess_.push_back(terms.sum * (row.right.o[d] - row.actual[d]));
      slack_.push_back(3 * terms.sum * row.allowed[d]);
      if (!(spread / slack_[d] > most)) continue;
      most = spread / slack_[d];
      sharpest_ = d;
    }
  }

  bool fits(std::size_t first, std::size_t end) const {
    for (std::size_t d = 0; d < sums_.size(); ++d)
      if (!(std::fabs(sums_[d][end] - sums_[d][first] - excess_[d]) <= slack_[d])) return false;
    return true;
  }

  /// Calls what(first, end) for the runs that fit, at most so many; they are found by one column.
  void for_each_fit(std::size_t most,
                    const std::function<void(std::size_t first, std::size_t end)>& what) const {
    const Values& by = sums_[sharpest_];
    const double excess = excess_[sharpest_], slack = slack_[sharpest_];
    const auto value = [&](std::size_t j) { return by[j]; };
    std::vector<std::size_t> order(by.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, value);
    for (std::size_t first = 0; first + 1 < by.size(); ++first)
      for (auto at = std::ranges::lower_bound(order, by[first] + excess - slack, {}, value);
           at != order.end() && by[*at] <= by[first] + excess + slack; ++at) {
        if (most-- == 0) return;
        if (*at > first && fits(first, *at)) what(first, *at);
      }
  }

 private:
  std::vector<Values> sums_;  // [d_v][T_k + 1]
  Values excess_, slack_;
  std::size_t sharpest_ = 0;
};

}  // namespace

std::vector<Suspect> suspected_missing_keys(const Examiner& examiner) {
  constexpr std::size_t kRows = 8, kMostRuns = 256, kMostPairs = std::size_t{1} << 22;
  std::vector<RunSums> rows;
  for (const WitnessRow* row : flattest(examiner, kRows)) rows.emplace_back(examiner, *row);
  if (rows.empty()) return {};
  const Index T_k = examiner.judged().problem.n.T_k;
  std::vector<KeyRun> runs;
  rows[0].for_each_fit(kMostPairs, [&](std::size_t first, std::size_t end) {
    if (std::ranges::all_of(rows, [&](const RunSums& row) { return row.fits(first, end); }))
      runs.push_back({static_cast<Index>(first), static_cast<Index>(end)});
  });
  std::ranges::stable_sort(runs, [&](const KeyRun& a, const KeyRun& b) {
    const int round_a = roundness(a, T_k), round_b = roundness(b, T_k);
    return round_a != round_b ? round_a > round_b : a.count() < b.count();
  });
  std::vector<Suspect> list;
  for (std::size_t i = 0; i < std::min(kMostRuns, runs.size()); ++i)
    list.push_back(missing_suspect(runs[i]));
  return list;
}

}  // namespace sdpa
