#include "report/faults.h"

#include "report/fault_search.h"
#include "report/missing_rows.h"
#include "report/suspects.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace sdpa {

namespace {

/// Examines suspects one after the other; a fault that is found already is not looked for again.
class Search {
 public:
  Search(const Examiner& examiner, FaultFinding& finding)
      : examiner_(examiner), finding_(finding) {}

  void examine(const std::vector<Suspect>& suspects) {
    for (const Suspect& suspect : suspects) {
      if (named_.contains(suspect.fault)) continue;
      std::optional<Evidence> evidence = examiner_.examine(suspect);
      if (!evidence) continue;
      named_.insert(suspect.fault);
      finding_.resembles.push_back(
          {suspect.fault, suspect.parameter, suspect.words, std::move(*evidence)});
    }
  }

 private:
  const Examiner& examiner_;
  FaultFinding& finding_;
  std::set<std::string> named_;
};

/// The cosine between the wrong rows and the right ones.
double correlation(const Examiner& examiner) {
  double products = 0, of_actual = 0, of_right = 0;
  for (const WitnessRow& row : examiner.wrong())
    for (std::size_t d = 0; d < row.actual.size(); ++d) {
      products += row.actual[d] * row.right.o[d];
      of_actual += row.actual[d] * row.actual[d];
      of_right += row.right.o[d] * row.right.o[d];
    }
  return products / std::sqrt(of_actual * of_right);
}

/// What explains the output only in some heads or rows is not said where something explains all.
void drop_partial(std::vector<Resemblance>& resembles) {
  const auto is_partial = [](const Resemblance& one) { return one.evidence.where != kEverywhere; };
  if (!std::ranges::all_of(resembles, is_partial)) std::erase_if(resembles, is_partial);
}

}  // namespace

FaultFinding find_faults(const JudgedOutput& judged) {
  FaultFinding finding;
  const Examiner examiner(judged);
  if (examiner.wrong().empty()) return finding;
  finding.resembles = missing_rows(judged);
  Search search(examiner, finding);
  search.examine(suspects_of_operands(judged));
  search.examine(suspects_of_masks(judged));
  search.examine(suspects_of_scores(judged));
  search.examine(suspects_of_sums(judged));
  search.examine(suspected_missing_keys(examiner));
  search.examine(suspected_padding(examiner));
  search.examine(suspected_factors(examiner));
  drop_partial(finding.resembles);
  if (!finding.resembles.empty()) return finding;
  search.examine(suspected_rows(examiner));
  const std::vector<Suspect> scales = suspected_scales(examiner);
  search.examine(scales);
  if (!finding.resembles.empty()) return finding;
  const double alike = correlation(examiner);
  constexpr double kHigh = 0.9;
  if (std::fabs(alike) >= kHigh)
    finding.likeness =
        Likeness{alike, nearest_factor(examiner),
                 scales.empty() ? std::nan("") : scales[0].variant.scale.value_or(std::nan(""))};
  return finding;
}

}  // namespace sdpa
