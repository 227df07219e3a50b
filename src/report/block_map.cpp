#include "report/block_map.h"

#include <algorithm>
#include <numeric>

namespace sdpa {

namespace {

constexpr Index kMostBlocks = 16;
constexpr std::size_t kMostMatrices = 4;

}  // namespace

BlockMap::Blocks BlockMap::blocks_of(Index extent) {
  const Index size = std::max<Index>(1, (extent + kMostBlocks - 1) / kMostBlocks);
  return {extent, size, (extent + size - 1) / size};
}

BlockMap::BlockMap(const Shape& shape)
    : matrices_(1), rows_(blocks_of(shape.from_end(2))), columns_(blocks_of(shape.from_end(1))) {
  for (Index axis = 0; axis + 2 < shape.rank(); ++axis) matrices_ *= shape[axis];
  marks_.resize(static_cast<std::size_t>(matrices_ * rows_.count * columns_.count));
}

void BlockMap::add(Index position) {
  const Index column = position % columns_.extent, row = position / columns_.extent % rows_.extent;
  const Index matrix = position / columns_.extent / rows_.extent;
  ++marks_[static_cast<std::size_t>((matrix * rows_.count + row / rows_.size) * columns_.count +
                                    column / columns_.size)];
}

std::string BlockMap::line(Index matrix, Index block_row) const {
  const auto in_block = [](const Blocks& axis, Index block) {
    return std::min(axis.size, axis.extent - block * axis.size);
  };
  std::string text;
  for (Index c = 0; c < columns_.count; ++c) {
    const Index marks =
        marks_[static_cast<std::size_t>((matrix * rows_.count + block_row) * columns_.count + c)];
    const Index all = in_block(rows_, block_row) * in_block(columns_, c);
    text += marks == 0 ? '.' : marks == all ? '#' : ':';
  }
  return text;
}

std::vector<std::string> BlockMap::lines() const {
  std::vector<std::string> lines;
  std::size_t shown = 0, marked = 0;
  const Index of_matrix = rows_.count * columns_.count;
  for (Index matrix = 0; matrix < matrices_; ++matrix) {
    const auto first = marks_.begin() + matrix * of_matrix;
    const Index marks = std::accumulate(first, first + of_matrix, Index{0});
    if (marks == 0 || marks == rows_.extent * columns_.extent) continue;
    if (++marked > kMostMatrices) continue;
    ++shown;
    lines.push_back((matrices_ > 1 ? "head " + std::to_string(matrix) + ", " : "") + "blocks of " +
                    std::to_string(rows_.size) + " x " + std::to_string(columns_.size));
    for (Index r = 0; r < rows_.count; ++r) lines.push_back(line(matrix, r));
  }
  if (marked > shown) lines.push_back("and " + std::to_string(marked - shown) + " more heads");
  return lines;
}

}  // namespace sdpa
