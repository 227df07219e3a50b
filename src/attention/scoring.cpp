#include "attention/scoring.h"

#include "base/error.h"
#include "base/numbers.h"

namespace sdpa {

std::string scale_text(const ScoreScale& scale) {
  const std::string factor = shortest_text(scale.factor);
  return scale.root == 1 ? factor : factor + "/sqrt(" + std::to_string(scale.root) + ")";
}

namespace {

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

std::vector<double> sinks_of_heads(const ScoringOptions& scoring, std::span<const Index> leading) {
  if (!scoring.sinks) return {};
  const Array& array = scoring.sinks->array;
  const std::string& name = scoring.sinks->name;
  if (array.dtype() == Dtype::boolean) throw Error(name, "holds bool, but sinks are numbers");
  const Shape heads({leading.begin(), leading.end()});
  if (array.shape().element_count() == 1)
    return std::vector<double>(static_cast<std::size_t>(heads.element_count()), array.at(0));
  const Index missing = heads.rank() - array.shape().rank();
  const auto refuse = [&](Index axis) {
    const Index own = array.shape().extents()[static_cast<std::size_t>(axis - missing)];
    return own != 1 && own != leading[static_cast<std::size_t>(axis)];
  };
  bool fits = missing >= 0;
  for (Index axis = missing; fits && axis < heads.rank(); ++axis) fits = !refuse(axis);
  if (!fits)
    throw Error(name, "shape " + array.shape().text() + ", but the heads are " + heads.text() +
                          ": a sink for each, or one for all");

  std::vector<double> sinks;
  for (Index h = 0; h < heads.element_count(); ++h) {
    Index rest = h, position = 0, step = 1;
    for (Index axis = heads.rank() - 1; axis >= missing; --axis) {
      const Index extent = leading[static_cast<std::size_t>(axis)];
      const Index own = array.shape().extents()[static_cast<std::size_t>(axis - missing)];
      if (own != 1) position += rest % extent * step;
      rest /= extent;
      step *= own;
    }
    sinks.push_back(array.at(position));
  }
  return sinks;
}

}  // namespace sdpa
