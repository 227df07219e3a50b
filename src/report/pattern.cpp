#include "report/pattern.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace sdpa {

namespace {

constexpr Index kBlocks[] = {128, 64, 32, 16};

/// A pattern may name an axis of which it marks this share or more: an element can be right by
/// chance.
constexpr double kFilled = 0.9;

/// How an axis calls its indices.
struct Words {
  std::string one, many, of;
};

Words words(std::size_t axis, std::size_t rank) {
  if (axis == rank - 1) return {"column", "columns", ""};
  if (axis == rank - 2) return {"row", "rows", ""};
  return {"index", "indices", " of axis " + std::to_string(axis)};
}

std::string ordinal(Index n) {
  const bool teen = n % 100 >= 11 && n % 100 <= 13;
  const Index digit = teen ? 0 : n % 10;
  return std::to_string(n) + (digit == 1 ? "st" : digit == 2 ? "nd" : digit == 3 ? "rd" : "th");
}

bool fills(Index marked, Index places) {
  return static_cast<double>(marked) >= kFilled * static_cast<double>(places);
}

/// "5 %"
std::string percent_text(double share) {
  if (share < 0.01) return "less than 1 %";
  return std::to_string(std::lround(100 * share)) + " %";
}

/// "the last 8 rows of every block of 64": the marked indices are those of the ends of blocks.
std::string block_tails(const std::vector<Index>& marked, Index extent, const Words& w) {
  for (Index block : kBlocks) {
    if (extent < 2 * block) continue;
    Index first_in_block = block;
    for (Index index : marked) first_in_block = std::min(first_in_block, index % block);
    if (first_in_block == 0) continue;
    const Index tail = block - first_in_block;
    const Index places =
        extent / block * tail + std::max<Index>(0, extent % block - first_in_block);
    if (fills(std::ssize(marked), places))
      return "the last " + (tail == 1 ? w.one : std::to_string(tail) + " " + w.many) +
             " of every block of " + std::to_string(block) + w.of;
  }
  return "";
}

/// "every 4th row from row 1 on": all marked indices lie on one progression to the end.
std::string progression(const std::vector<Index>& marked, Index extent, const Words& w) {
  if (marked.size() < 3) return "";
  Index step = 0;
  for (Index index : marked) step = std::gcd(step, index - marked[0]);
  if (step < 2 || !fills(std::ssize(marked), (extent - 1 - marked[0]) / step + 1)) return "";
  return "every " + ordinal(step) + " " + w.one + " from " + w.one + " " +
         std::to_string(marked[0]) + " on" + w.of;
}

/// " (after the last full block of 64)" if `first` is where such a block ends.
std::string after_blocks(Index first, Index extent) {
  for (Index block : kBlocks)
    if (first > 0 && extent % block != 0 && first == extent - extent % block)
      return " (after the last full block of " + std::to_string(block) + ")";
  return "";
}

std::string listed(const std::vector<Index>& marked, const Words& w) {
  std::string text = w.many;
  for (std::size_t i = 0; i < marked.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(marked[i]);
  return text + w.of;
}

/// Empty when every index is marked, or if the places are scattered and there is nothing else to say.
std::string axis_text(const std::vector<bool>& marks, const Words& w, bool scattered) {
  std::vector<Index> marked;
  for (std::size_t index = 0; index < marks.size(); ++index)
    if (marks[index]) marked.push_back(static_cast<Index>(index));
  const auto extent = static_cast<Index>(marks.size());
  const Index first = marked.front(), last = marked.back();

  if (marked.size() == 1 && extent > 1)
    return w.one + " " + std::to_string(first) + w.of +
           (last == extent - 1 ? after_blocks(first, extent) : "");
  if (first == 0 && last == extent - 1 && fills(std::ssize(marked), extent)) return "";
  if (fills(std::ssize(marked), last - first + 1)) {
    if (last == extent - 1)
      return "from " + w.one + " " + std::to_string(first) + " on" + w.of +
             after_blocks(first, extent);
    return w.many + " " + std::to_string(first) + " to " + std::to_string(last) + w.of;
  }
  if (std::string text = progression(marked, extent, w); !text.empty()) return text;
  if (std::string text = block_tails(marked, extent, w); !text.empty()) return text;
  constexpr std::size_t kMostListed = 4;
  if (marked.size() <= kMostListed) return listed(marked, w);
  if (scattered) return "";
  return std::to_string(marked.size()) + " of " + std::to_string(extent) + " " + w.many + w.of +
         " from " + std::to_string(first) + " to " + std::to_string(last);
}

/// "the diagonal where column = row + 3": one diagonal of the rows and columns, nearly full.
std::string diagonal_text(const std::vector<bool>& diagonals, Index marked_rows, Index rows,
                          Index columns) {
  if (marked_rows < 3 || std::ranges::count(diagonals, true) != 1) return "";
  const Index shift = std::ranges::find(diagonals, true) - diagonals.begin() - (rows - 1);
  const Index length = std::min(rows, columns - shift) - std::max<Index>(0, -shift);
  if (!fills(marked_rows, length)) return "";
  if (shift == 0) return "the diagonal";
  return "the diagonal where column = row " + std::string(shift > 0 ? "+ " : "- ") +
         std::to_string(std::abs(shift));
}

}  // namespace

Pattern::Pattern(Shape shape) : shape_(std::move(shape)) {
  for (Index extent : shape_.extents()) marks_.emplace_back(static_cast<std::size_t>(extent));
  if (shape_.rank() >= 2)
    diagonals_.resize(static_cast<std::size_t>(shape_.from_end(2) + shape_.from_end(1)));
}

void Pattern::add(Index position) {
  ++count_;
  if (!diagonals_.empty()) {
    const Index rows = shape_.from_end(2), columns = shape_.from_end(1);
    const Index row = position / columns % rows, column = position % columns;
    diagonals_[static_cast<std::size_t>(column - row + rows - 1)] = true;
  }
  for (std::size_t axis = marks_.size(); axis-- > 0;) {
    const auto extent = static_cast<Index>(marks_[axis].size());
    marks_[axis][static_cast<std::size_t>(position % extent)] = true;
    position /= extent;
  }
}

std::string Pattern::text() const {
  if (count_ == 0) return "nowhere";
  if (count_ == 1) return "one value";
  std::vector<Index> marked;
  double product = 1;
  for (const std::vector<bool>& marks : marks_) {
    marked.push_back(std::ranges::count(marks, true));
    product *= static_cast<double>(marked.back());
  }
  const std::size_t rank = marks_.size();
  const std::string diagonal = rank < 2 ? ""
                                        : diagonal_text(diagonals_, marked[rank - 2],
                                                        shape_.from_end(2), shape_.from_end(1));
  const bool scattered = diagonal.empty() && static_cast<double>(count_) < kFilled * product;

  std::string text;
  double places = 1;  // in what the text names
  const auto append = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (std::size_t axis = 0; axis < (diagonal.empty() ? rank : rank - 2); ++axis) {
    const std::string part = axis_text(marks_[axis], words(axis, rank), scattered);
    places *= static_cast<double>(part.empty() ? shape_.extents()[axis] : marked[axis]);
    if (!part.empty()) append(part);
  }
  if (!diagonal.empty()) append(diagonal);
  if (scattered) append("scattered, " + percent_text(static_cast<double>(count_) / places));
  return text.empty() ? "everywhere" : text;
}

}  // namespace sdpa
