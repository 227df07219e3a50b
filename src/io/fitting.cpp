#include "io/fitting.h"

#include <algorithm>
#include <utility>

namespace sdpa {

std::string shape_word(const Shape& shape) {
  std::string word;
  for (const Index extent : shape.extents()) {
    if (!word.empty()) word += 'x';
    word += std::to_string(extent);
  }
  return word;
}

std::vector<std::string> fitting_shapes(Index count, const Shape& shape) {
  std::vector<std::string> words;
  if (shape.element_count() == 0 || count == 0) return words;
  const auto propose = [&](std::vector<Index> extents) {
    std::string word = "as " + shape_word(Shape(std::move(extents)));
    if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
  };
  const std::vector<Index> extents(shape.extents().begin(), shape.extents().end());
  // From the first axis on, each alone; in the middle they are sequences or heads.
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const Index others = shape.element_count() / extents[axis];
    if (count % others != 0) continue;
    std::vector<Index> changed = extents;
    changed[axis] = count / others;
    propose(std::move(changed));
  }
  if (count % shape.element_count() == 0) {
    std::vector<Index> longer = extents;
    longer.insert(longer.begin(), count / shape.element_count());
    propose(std::move(longer));
  }
  return words;
}

std::string proposal_text(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "; they would fit " : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace sdpa
