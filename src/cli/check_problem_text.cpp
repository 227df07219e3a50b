#include "cli/check_problem_text.h"

#include "cli/mask_arguments.h"

namespace sdpa {

using nlohmann::ordered_json;

namespace {

std::string types_text(const ProblemInputs& in) {
  const auto type = [](const Array& array) { return std::string(name(array.dtype())); };
  if (in.q.dtype() == in.k.dtype() && in.k.dtype() == in.v.dtype())
    return "q, k and v " + type(in.q);
  return "q " + type(in.q) + ", k " + type(in.k) + ", v " + type(in.v);
}

/// As "1/sqrt(64)", or as "0.125, softcap 50".
std::string scale_text(const ProblemInputs& inputs, const Problem& problem) {
  ScoringOptions rest = inputs.scoring;
  std::string text = "1/sqrt(" + std::to_string(problem.n.d_k) + ")";
  if (rest.scale) text = scale_text(*rest.scale);
  rest.scale.reset();
  return rest.text().empty() ? text : text + ", " + rest.text();
}

}  // namespace

std::string problem_text(const ProblemInputs& inputs, const Problem& problem,
                         const Finding& finding) {
  std::string shapes = layout_text(inputs, problem);
  if (shapes.empty())
    shapes = "T_q " + std::to_string(problem.n.T_q) + ", T_k " + std::to_string(problem.n.T_k);
  const MaskCounts& counts = finding.counts;
  return "  inputs      " + shapes + ", d_k " + std::to_string(problem.n.d_k) + ", d_v " +
         std::to_string(problem.n.d_v) + "; " + types_text(inputs) + "\n  scale       " +
         scale_text(inputs, problem) + "\n  mask        " +
         (finding.mask.empty()
              ? "none: each query sees every key"
              : finding.mask + "; " +
                    visible_text(counts.visible_pairs, counts.pairs, counts.empty_rows)) +
         "\n";
}

ordered_json problem_json(const ProblemInputs& inputs, const Problem& problem,
                          const Finding& finding) {
  ordered_json document = {
      {"T_q", problem.n.T_q},           {"T_k", problem.n.T_k},
      {"d_k", problem.n.d_k},           {"d_v", problem.n.d_v},
      {"batch", problem.batch},         {"heads", problem.q.heads()},
      {"key_heads", problem.k.heads()}, {"layout", layout_text(inputs, problem)},
      {"q", name(inputs.q.dtype())},    {"k", name(inputs.k.dtype())},
      {"v", name(inputs.v.dtype())},    {"scale", scale_text(inputs, problem)}};
  document["mask"] = finding.mask.empty() ? ordered_json(nullptr) : ordered_json(finding.mask);
  document["visible_pairs"] = finding.counts.visible_pairs;
  document["pairs"] = finding.counts.pairs;
  document["empty_rows"] = finding.counts.empty_rows;
  return document;
}

}  // namespace sdpa
