#include "report/examiner.h"

#include "base/parallel.h"
#include "report/ulp.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

namespace sdpa {

namespace {

using textbook::Values;

constexpr Index kMostWrong = 64, kMostRight = 16;  // rows of a head
constexpr Index kMostElements = Index{1} << 22;    // scores of all these rows
constexpr Index kMostProducts = Index{1} << 26;    // for the rows that are compared at last
constexpr double kNeededBits = 24;                 // one in 16 million
constexpr double kMostBits = 20;                   // of one value

std::string range_text(const char* what, Index first, Index last) {
  if (first == last) return std::string(what) + " " + std::to_string(first);
  return std::string(what) + "s " + std::to_string(first) + " to " + std::to_string(last);
}

/// Every n-th, so many that `most` are left.
std::vector<Index> spread(const std::vector<Index>& all, Index most) {
  std::vector<Index> some;
  const auto n = std::ssize(all), count = std::min(n, most);
  for (Index i = 0; i < count; ++i)
    some.push_back(all[static_cast<std::size_t>(count == 1 ? n - 1 : i * (n - 1) / (count - 1))]);
  return some;
}

}  // namespace

WitnessRow Examiner::row(Index head, Index t) const {
  const Index d_v = judged().problem.n.d_v;
  WitnessRow row{head, t, Values(static_cast<std::size_t>(d_v)), {}};
  read_elements(judged().actual, (judged().problem.rows_of(head).first + t) * d_v, d_v,
                row.actual.data());
  return row;
}

WitnessRow Examiner::witness(Index head, Index t) const {
  WitnessRow witness = row(head, t);
  witness.right = rows_.row({}, head, t);
  witness.allowed = witness.right.allowed;
  for (std::size_t d = 0; d < witness.actual.size(); ++d)
    witness.allowed[d] += unit_roundoff(judged().roundings.output) * std::fabs(witness.actual[d]);
  return witness;
}

Examiner::Examiner(const JudgedOutput& judged) : rows_(judged) {
  const Problem& problem = judged.problem;
  Index heads = 0;
  std::vector<std::vector<Index>> wrong_of_heads, right_of_heads;
  for (Index head = 0; head < judged.heads(); ++head) {
    const RowRange all = problem.rows_of(head);
    const Index length = judged.mask.of_head(head).query_length;
    std::vector<Index> wrong, right;
    for (Index t = 0; t < std::min(all.count, length); ++t) {
      const bool is_wrong = judged.rows[static_cast<std::size_t>(all.first + t)].outside != 0;
      (is_wrong ? wrong : right).push_back(t);
      if (!is_wrong) continue;
      if (last_t_ < 0 || t < first_t_) first_t_ = t;
      last_t_ = std::max(last_t_, t);
    }
    if (problem.head(head).n.T_k == 0) wrong.clear(), right.clear();
    if (!wrong.empty()) wrong_heads_.push_back(head);
    heads += !wrong.empty() || !right.empty();
    std::ranges::stable_sort(wrong, [&](Index a, Index b) {
      return judged.rows[static_cast<std::size_t>(all.first + a)].worst >
             judged.rows[static_cast<std::size_t>(all.first + b)].worst;
    });
    wrong_of_heads.push_back(std::move(wrong));
    right_of_heads.push_back(std::move(right));
  }
  const Index of_head = kMostElements / std::max<Index>(1, heads * problem.n.T_k);
  const Index most_wrong = std::clamp<Index>(of_head, 2, kMostWrong),
              most_right = std::clamp<Index>(of_head / 4, 2, kMostRight);
  for (Index place = 0; place < most_wrong; ++place)
    for (std::size_t head = 0; head < wrong_of_heads.size(); ++head)
      if (place < std::ssize(wrong_of_heads[head]))
        wrong_.push_back(witness(static_cast<Index>(head),
                                 wrong_of_heads[head][static_cast<std::size_t>(place)]));
  for (std::size_t head = 0; head < right_of_heads.size(); ++head)
    for (const Index t : spread(right_of_heads[head], most_right))
      right_.push_back(witness(static_cast<Index>(head), t));
}

std::vector<const WitnessRow*> Examiner::comparable(std::size_t most) const {
  const auto all_are_finite = [](const Values& values) {
    return std::ranges::all_of(values, [](double x) { return std::isfinite(x); });
  };
  std::vector<const WitnessRow*> rows;
  for (const WitnessRow& row : wrong_)
    if (rows.size() < most && !row.right.is_empty && all_are_finite(row.right.o) &&
        all_are_finite(row.allowed) && all_are_finite(row.actual))
      rows.push_back(&row);
  return rows;
}

namespace {

bool agrees_here(const VariantRow& row, const Values& actual) {
  if (row.is_empty) {
    const double first = actual.empty() ? 0 : actual[0];
    return std::ranges::all_of(
        actual, [&](double x) { return std::isnan(first) ? std::isnan(x) : x == 0; });
  }
  for (std::size_t d = 0; d < row.o.size(); ++d) {
    const bool is_nan = std::isnan(row.o[d]);
    if (is_nan != std::isnan(actual[d])) return false;
    if (is_nan || row.o[d] == actual[d]) continue;
    if (!(std::fabs(row.o[d] - actual[d]) <= row.allowed[d])) return false;
  }
  return true;
}

}  // namespace

bool Examiner::agrees(const KernelVariant& variant, const WitnessRow& row) const {
  constexpr Index kFirstColumns = 8;
  const RowTerms terms = rows_.terms(variant, row.head, row.t);
  if (terms.keys->d_v != std::ssize(row.actual)) return false;
  if (!agrees_here(rows_.row(variant, terms, kFirstColumns), row.actual)) return false;
  return terms.keys->d_v <= kFirstColumns ||
         agrees_here(rows_.row(variant, terms, terms.keys->d_v), row.actual);
}

/// How unlikely it is, in bits, that a row that agrees does so by accident: how much further from
/// right its values are than from what the variant gives.
double Examiner::surprise(const KernelVariant& variant, const WitnessRow& row) const {
  const VariantRow given = rows_.row(variant, row.head, row.t);
  if (given.is_empty || row.right.is_empty) return 0;
  double bits = 0;
  for (std::size_t d = 0; d < given.o.size(); ++d) {
    const double ratio = std::fabs(row.actual[d] - row.right.o[d]) / given.allowed[d];
    if (ratio > 2) bits += std::min(std::log2(ratio), kMostBits);
  }
  return bits;
}

/// Where rows judged right are not what the variant gives, it can only be a fault of some heads or
/// rows.
std::optional<std::string> Examiner::where(const KernelVariant& variant) const {
  bool everywhere = true, heads = true, rows = true;
  for (const WitnessRow& row : right_) {
    if (agrees(variant, row)) continue;
    everywhere = false;
    heads = heads && !std::ranges::binary_search(wrong_heads_, row.head);
    rows = rows && (row.t < first_t_ || row.t > last_t_);
  }
  if (everywhere) return kEverywhere;
  if (heads) {
    std::string text;
    constexpr std::size_t kMostNamed = 8;
    for (std::size_t i = 0; i < std::min(kMostNamed, wrong_heads_.size()); ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(wrong_heads_[i]);
    return (wrong_heads_.size() == 1 ? "head " : "heads ") + text +
           (wrong_heads_.size() > kMostNamed ? ", ..." : "");
  }
  if (rows) return range_text("row", first_t_, last_t_);
  return std::nullopt;
}

/// Of the rows concerned, those that `wrong_` does not hold: all, or as many as there is time for.
bool Examiner::agrees_elsewhere(const KernelVariant& variant, Evidence& evidence) const {
  const Problem& problem = judged().problem;
  std::vector<std::pair<Index, Index>> places;
  const bool some_rows = evidence.where.starts_with("row"),
             some_heads = evidence.where.starts_with("head");
  for (Index head = 0; head < judged().heads(); ++head) {
    if (some_heads && !std::ranges::binary_search(wrong_heads_, head)) continue;
    const RowRange all = problem.rows_of(head);
    if (problem.head(head).n.T_k == 0) continue;
    const Index length = std::min(all.count, judged().mask.of_head(head).query_length);
    for (Index t = some_rows ? first_t_ : 0; t < (some_rows ? last_t_ + 1 : length); ++t)
      places.emplace_back(head, t);
  }
  const Index most =
      std::max<Index>(64, kMostProducts / (problem.n.T_k * (problem.n.d_k + problem.n.d_v)));
  const auto n = std::ssize(places);
  const Index count = std::min(n, most);
  std::atomic<bool> agree{true};
  std::atomic<Index> values{0}, rows{0};
  parallel_for(judged().threads, count, [&](Index i) {
    if (!agree) return;
    const auto [head, t] = places[static_cast<std::size_t>(i * n / count)];
    const auto& found = judged().rows[static_cast<std::size_t>(problem.rows_of(head).first + t)];
    if (!agrees(variant, row(head, t))) agree = false;
    values += found.outside;
    rows += found.outside != 0;
  });
  evidence.values = values;
  evidence.rows = rows;
  evidence.all_rows = count == n;
  return agree;
}

std::optional<Evidence> Examiner::examine(const Suspect& suspect) const {
  const KernelVariant& variant = suspect.variant;
  for (const WitnessRow& row : wrong_)
    if (!agrees(variant, row)) return std::nullopt;
  double bits = 0;
  for (const WitnessRow& row : wrong_) bits += surprise(variant, row);
  if (!(bits >= kNeededBits + suspect.tried)) return std::nullopt;
  const std::optional<std::string> place = where(variant);
  if (!place) return std::nullopt;
  Evidence evidence{*place};
  if (!agrees_elsewhere(variant, evidence)) return std::nullopt;
  return evidence;
}

}  // namespace sdpa
