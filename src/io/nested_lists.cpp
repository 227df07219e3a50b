#include "io/nested_lists.h"

#include "base/error.h"
#include "io/quote.h"

#include <utility>
#include <vector>

namespace sdpa {

void NestedLists::open() {
  if (rank_ != 0 && depth_ == rank_) refuse("a list");
  if (depth_ == counts_.size())
    throw Error(place_, "lists are nested deeper than " + std::to_string(depth_) + " axes");
  counts_[depth_++] = 0;
}

void NestedLists::number() {
  if (rank_ == 0) rank_ = depth_;
  if (depth_ == 0) refuse("a number");
  if (depth_ != rank_)
    throw Error(place_, "a number stands at " + index_text() + ", where lists are before it");
  ++counts_[depth_ - 1];
}

void NestedLists::close() {
  const std::size_t axis = --depth_;
  const Index count = counts_[axis];
  if (rank_ == 0) rank_ = depth_ + 1;  // no number came before, so the list is empty
  if (!extents_[axis]) extents_[axis] = count;
  if (count != *extents_[axis])
    throw Error(place_, "list " + index_text() + " has " + std::to_string(count) +
                            " elements, those before it have " + std::to_string(*extents_[axis]));
  if (axis > 0) ++counts_[axis - 1];
}

void NestedLists::refuse(const std::string& what) const {
  if (depth_ == 0) throw Error(place_, what + " stands where an array should be");
  throw Error(place_, what + " stands at " + index_text() + ", where a number should be");
}

void NestedLists::refuse_too_large(std::string_view text, Dtype dtype) const {
  if (depth_ == 0) refuse("a number");
  throw Error(place_, "the number " + in_quotes(text) + " at " + index_text() +
                          " is too large for " + std::string(name(dtype)));
}

Shape NestedLists::shape() const {
  std::vector<Index> extents;
  for (std::size_t axis = 0; axis < rank_; ++axis) extents.push_back(*extents_[axis]);
  return file_shape(std::move(extents), place_);
}

std::string NestedLists::index_text() const {
  std::string text;
  for (std::size_t axis = 0; axis < depth_; ++axis) {
    text += axis == 0 ? "[" : ", ";
    text += std::to_string(counts_[axis]);
  }
  return text + "]";
}

}  // namespace sdpa
