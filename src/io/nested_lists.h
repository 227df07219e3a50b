#pragma once

#include "io/decode.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace sdpa {

/// Finds the shape of an array from the brackets and numbers of its nested lists, taken in order.
///
/// Empty lists are of the last axis: "[[], []]" has shape (2, 0), "[]" has (0,).
///
/// Throws Error that begins with `place` and gives an index as soon as they are no array: lists of
/// one axis that differ in length, numbers or empty lists at different depths, more than kMostAxes
/// axes.
class NestedLists {
 public:
  explicit NestedLists(std::string_view place) : place_(place) {}

  void open();
  void close();
  void number();

  /// Throws, because `what` stands where the next element should be.
  [[noreturn]] void refuse(const std::string& what) const;

  /// Throws, because the number that comes next, `text`, is too large for the type.
  [[noreturn]] void refuse_too_large(std::string_view text, Dtype dtype) const;

  /// Whether the outermost list has begun and not ended.
  bool is_open() const { return depth_ > 0; }

  /// Of the outermost list, which has ended.
  Shape shape() const;

 private:
  /// Index of the next element, as "[0, 1]"; a list is open.
  std::string index_text() const;

  std::string place_;
  std::size_t depth_ = 0;                  ///< open lists
  std::size_t rank_ = 0;                   ///< depth of numbers and empty lists; 0 before the first
  std::array<Index, kMostAxes> counts_{};  ///< elements so far of each open list
  std::array<std::optional<Index>, kMostAxes>
      extents_;  ///< of each axis with a list that has ended
};

}  // namespace sdpa
