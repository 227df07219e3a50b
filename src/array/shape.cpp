#include "array/shape.h"

#include "base/checked.h"
#include "base/error.h"

#include <utility>

namespace sdpa {

namespace {

/// Elements; with 8 bytes each, the bytes still fit an Index.
constexpr Index kLargestCount = Index{1} << 60;

std::string joined(std::span<const Index> numbers) {
  std::string text;
  for (Index number : numbers) {
    if (!text.empty()) text += ", ";
    text += std::to_string(number);
  }
  return text;
}

}  // namespace

Shape::Shape(std::vector<Index> extents) : extents_(std::move(extents)) {
  std::optional<Index> product = 1;
  for (Index extent : extents_) {
    if (extent < 0) throw Error("shape " + text() + " has a negative extent");
    if (extent == 0)
      element_count_ = 0;
    else if (product)
      product = checked_multiply(*product, extent);
  }
  if (!product || *product > kLargestCount) throw Error("shape " + text() + " is too large");
  if (element_count_ != 0) element_count_ = *product;
}

std::string Shape::text() const {
  std::string text = "(";
  text += joined(extents_);
  text += rank() == 1 ? ",)" : ")";
  return text;
}

std::string Shape::index_text(Index position) const {
  std::vector<Index> index(extents_.size());
  for (std::size_t axis = extents_.size(); axis-- > 0;) {
    index[axis] = position % extents_[axis];
    position /= extents_[axis];
  }
  std::string text = "[";
  text += joined(index);
  text += ']';
  return text;
}

}  // namespace sdpa
