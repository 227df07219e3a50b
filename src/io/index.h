#pragma once

#include "array/array.h"

#include <optional>
#include <string_view>
#include <vector>

namespace sdpa {

/// One item of numpy's basic indexing.
struct IndexItem {
  enum Kind { integer, slice, ellipsis, new_axis } kind;
  std::optional<Index> start = {};  ///< of a slice; the integer itself
  std::optional<Index> stop = {};
  Index step = 1;
};

/// Takes apart what stands between the brackets of an index: integers, a:b and a:b:c with any of them
/// left out, `...` and None (or newaxis), joined by commas. Throws Error that begins with `place` if it
/// is anything else, or has more items than an array may have axes.
std::vector<IndexItem> parse_index(std::string_view text, std::string_view place);

/// The elements that the index chooses, as numpy does: negative numbers count from the end, slices
/// are cut to the axis. In the same memory where the chosen elements adjoin, else copied.
///
/// Throws Error that begins with `place` if an integer is outside its axis or there are more items than
/// axes.
Array indexed(const Array& array, const std::vector<IndexItem>& index, std::string_view place);

}  // namespace sdpa
