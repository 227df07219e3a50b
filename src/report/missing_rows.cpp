#include "report/missing_rows.h"

#include <algorithm>
#include <map>

namespace sdpa {

namespace {

using textbook::Values;

/// "rows 8 to 15"
std::string range_text(const std::string& what, const KeyRun& run) {
  if (run.count() == 1) return what + " " + std::to_string(run.first);
  return what + "s " + std::to_string(run.first) + " to " + std::to_string(run.end - 1);
}

bool is_zero(const JudgedOutput& judged, Index first, Index count) {
  Values values(static_cast<std::size_t>(count));
  read_elements(judged.actual, first, count, values.data());
  return std::ranges::all_of(values, [](double x) { return x == 0; });
}

/// The runs of rows of one head that are judged wrong, with rows of zeros between them joined; nothing
/// if a wrong row is not zeros.
std::optional<std::vector<KeyRun>> zero_rows(const JudgedOutput& judged, Index head) {
  const RowRange all = judged.problem.rows_of(head);
  const Index d_v = judged.problem.n.d_v;
  std::vector<KeyRun> runs;
  for (Index t = 0; t < all.count; ++t) {
    if (judged.rows[static_cast<std::size_t>(all.first + t)].outside == 0) continue;
    if (!is_zero(judged, (all.first + t) * d_v, d_v)) return std::nullopt;
    const bool adjoins = !runs.empty() && is_zero(judged, (all.first + runs.back().end) * d_v,
                                                  (t - runs.back().end) * d_v);
    if (adjoins)
      runs.back().end = t + 1;
    else
      runs.push_back({t, t + 1});
  }
  return runs;
}

/// The only run of columns that are zeros in all rows judged wrong, of the values that are wrong.
std::optional<KeyRun> zero_columns(const JudgedOutput& judged) {
  const Index d_v = judged.problem.n.d_v;
  std::vector<bool> zero(static_cast<std::size_t>(d_v), true);
  Values row(static_cast<std::size_t>(d_v));
  Index most_outside = 0;
  for (std::size_t at = 0; at < judged.rows.size(); ++at) {
    if (judged.rows[at].outside == 0) continue;
    most_outside = std::max(most_outside, judged.rows[at].outside);
    read_elements(judged.actual, static_cast<Index>(at) * d_v, d_v, row.data());
    for (std::size_t d = 0; d < zero.size(); ++d) zero[d] = zero[d] && row[d] == 0;
  }
  const auto first = std::ranges::find(zero, true);
  const auto end = std::find(first, zero.end(), false);
  const KeyRun run{first - zero.begin(), end - zero.begin()};
  const bool is_only = std::find(end, zero.end(), true) == zero.end();
  if (!is_only || run.count() == 0 || run.count() == d_v || most_outside > run.count())
    return std::nullopt;
  return run;
}

}  // namespace

std::vector<Resemblance> missing_rows(const JudgedOutput& judged) {
  Evidence evidence{kEverywhere, 0, 0, true};
  for (const RowJudgement& row : judged.rows) {
    evidence.values += row.outside;
    evidence.rows += row.outside != 0;
  }
  if (evidence.values < 2) return {};
  if (const std::optional<KeyRun> columns = zero_columns(judged))
    return {{"columns-missing", std::vector<Index>{columns->first, columns->end},
             range_text("column", *columns) + " of the output are zero", evidence}};

  std::vector<Index> heads;
  std::vector<std::vector<KeyRun>> runs;
  for (Index head = 0; head < judged.heads(); ++head) {
    const auto of_head = zero_rows(judged, head);
    if (!of_head) return {};
    if (of_head->empty()) continue;
    heads.push_back(head);
    runs.push_back(*of_head);
  }
  if (std::ssize(heads) < judged.heads()) {
    evidence.where = heads.size() == 1 ? "head " : "heads ";
    for (std::size_t i = 0; i < heads.size(); ++i)
      evidence.where += (i == 0 ? "" : ", ") + std::to_string(heads[i]);
  }
  const bool alike = std::ranges::all_of(runs, [&](const auto& one) { return one == runs[0]; });
  Resemblance missing{"rows-missing", {}, "rows of the output are zero", evidence};
  if (alike && runs[0].size() == 1) {
    missing.parameter = std::vector<Index>{runs[0][0].first, runs[0][0].end};
    missing.words = range_text("row", runs[0][0]) + " of the output " +
                    (runs[0][0].count() == 1 ? "is" : "are") + " zero";
  }
  return {missing};
}

}  // namespace sdpa
