#include "cli/fault_text.h"

#include "cli/report_text.h"

#include <cmath>

namespace sdpa {

using nlohmann::ordered_json;

namespace {

/// "in head 1, all 64 values that are outside are within the bound of such a kernel"
std::string evidence_text(const Evidence& evidence) {
  const std::string values = std::to_string(evidence.values) +
                             (evidence.values == 1 ? " value that is" : " values that are");
  return (evidence.where == kEverywhere ? "" : "in " + evidence.where + ", ") +
         (evidence.all_rows ? "all " + values + " outside"
                            : "all " + values + " outside in the " + std::to_string(evidence.rows) +
                                  " rows tried") +
         (evidence.values == 1 ? " is" : " are") + " within the bound of such a kernel";
}

std::string likeness_text(const std::optional<Likeness>& likeness) {
  std::string text = "no known fault explains it";
  if (!likeness) return text;
  text += "; the correlation with the right rows is " + measure_text(likeness->correlation);
  if (std::isfinite(likeness->factor))
    text += ", nearest to them times " + measure_text(likeness->factor);
  if (std::isfinite(likeness->scale))
    text += ", or to those of scale " + measure_text(likeness->scale);
  return text;
}

ordered_json parameter_json(const FaultParameter& parameter) {
  return std::visit(
      [](const auto& value) -> ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return nullptr;
        else
          return value;
      },
      parameter);
}

}  // namespace

std::string fault_text(const FaultFinding& finding) {
  if (finding.resembles.empty()) return "  looks like  " + likeness_text(finding.likeness) + "\n";
  std::string text;
  for (const Resemblance& one : finding.resembles)
    text += "  looks like  " + one.fault + ": " + one.words + "\n              " +
            evidence_text(one.evidence) + "\n";
  return text;
}

ordered_json fault_json(const FaultFinding& finding) {
  ordered_json all = ordered_json::array();
  for (const Resemblance& one : finding.resembles)
    all.push_back({{"fault", one.fault},
                   {"parameter", parameter_json(one.parameter)},
                   {"where", one.evidence.where},
                   {"values", one.evidence.values},
                   {"rows", one.evidence.rows},
                   {"words", one.words}});
  return all;
}

}  // namespace sdpa
