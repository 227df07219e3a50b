#include "attention/scoring.h"

#include "base/numbers.h"

namespace sdpa {

namespace {

std::string scale_text(const ScoreScale& scale) {
  const std::string factor = shortest_text(scale.factor);
  return scale.root == 1 ? factor : factor + "/sqrt(" + std::to_string(scale.root) + ")";
}

std::string sinks_text(const NamedArray& sinks) {
  if (sinks.array.shape().element_count() == 1)
    return "sink " + shortest_text(sinks.array.at(0)) + " in each head";
  return "sinks of " + sinks.name;
}

}  // namespace

std::string ScoringOptions::text() const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (scale) add("scale " + scale_text(*scale));
  if (softcap) add("softcap " + shortest_text(*softcap));
  if (sinks) add(sinks_text(*sinks));
  return text;
}

}  // namespace sdpa
