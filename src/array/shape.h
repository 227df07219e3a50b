#pragma once

#include "base/index.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sdpa {

/// Extents of an array, outermost first.
class Shape {
 public:
  Shape() = default;

  /// Throws Error without a place when an extent is negative, or when the extents without the zeros
  /// among them multiply to more than 2^60: such a shape is wrong even if it holds nothing.
  explicit Shape(std::vector<Index> extents);

  Index rank() const { return static_cast<Index>(extents_.size()); }
  Index operator[](Index axis) const { return extents_[static_cast<std::size_t>(axis)]; }

  /// Extent counted from the back: 1 is the last.
  Index from_end(Index position) const { return extents_[extents_.size() - position]; }

  std::span<const Index> extents() const { return extents_; }

  /// Product of all extents; 1 for rank 0.
  Index element_count() const { return element_count_; }

  /// As numpy prints it: "(2, 3)", "(4,)", "()".
  std::string text() const;

  /// Row and column and whatever is before them, of element `position` in C order: "[0, 1, 2]".
  std::string index_text(Index position) const;

  bool operator==(const Shape& other) const { return extents_ == other.extents_; }

 private:
  std::vector<Index> extents_;
  Index element_count_ = 1;
};

}  // namespace sdpa
