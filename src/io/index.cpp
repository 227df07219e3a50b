#include "io/index.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/decode.h"
#include "io/quote.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace sdpa {

namespace {

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse(std::string_view text, std::string_view place) {
  throw Error(place, "no index is written " + in_quotes(text) +
                         "; it is integers, a:b, ... and None joined by commas, as [:,0,-1]");
}

IndexItem item_of(std::string_view word, std::string_view whole, std::string_view place) {
  if (word == "...") return {IndexItem::ellipsis};
  if (word == "None" || word == "newaxis" || word == "np.newaxis") return {IndexItem::new_axis};
  const auto number = [&](std::string_view digits) -> std::optional<Index> {
    digits = without_blanks(digits);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto value = parse_integer(digits);
    if (!value) refuse(whole, place);
    return static_cast<Index>(*value);
  };
  if (word.find(':') == word.npos) return {IndexItem::integer, number(word)};
  IndexItem item{IndexItem::slice};
  const auto part = [&] {
    const std::size_t end = std::min(word.find(':'), word.size());
    const std::string_view first = without_blanks(word.substr(0, end));
    word.remove_prefix(std::min(end + 1, word.size()));
    return first;
  };
  const std::string_view start = part(), stop = part(), step = word;
  if (!start.empty()) item.start = number(start);
  if (!stop.empty()) item.stop = number(stop);
  if (!without_blanks(step).empty()) item.step = *number(step);
  if (item.step == 0) throw Error(place, "a step of 0 in the index " + in_quotes(whole));
  return item;
}

/// One axis of the array as it is chosen: elements start, start + step, ... of it. An axis that is
/// new has step 0.
struct Chosen {
  Index first, count, step;
  bool is_kept;  ///< it is an axis of the result
};

/// Which elements of an axis of `extent` a slice means, as Python's slice.indices().
Chosen chosen_by(const IndexItem& item, Index extent) {
  const bool forward = item.step > 0;
  const Index lowest = forward ? 0 : -1, highest = forward ? extent : extent - 1;
  const auto place = [&](std::optional<Index> at, Index otherwise) {
    if (!at) return otherwise;
    return std::clamp(*at < 0 ? *at + extent : *at, lowest, highest);
  };
  const Index start = place(item.start, forward ? lowest : highest);
  const Index stop = place(item.stop, forward ? highest : lowest);
  const Index span = forward ? stop - start : start - stop;
  // The largest steps would overflow if they were added to.
  const Index step = std::clamp(item.step, -extent - 1, extent + 1);
  const Index size = forward ? step : -step;
  return {start, span <= 0 ? 0 : (span - 1) / size + 1, step, true};
}

std::vector<Chosen> chosen_axes(const Shape& shape, const std::vector<IndexItem>& index,
                                std::string_view place) {
  const auto consuming = std::ranges::count_if(index, [](const IndexItem& item) {
    return item.kind == IndexItem::integer || item.kind == IndexItem::slice;
  });
  if (consuming > shape.rank())
    throw Error(place, "the index has " + std::to_string(consuming) + " items, the array " +
                           std::to_string(shape.rank()) + " axes: " + shape.text());
  std::vector<Chosen> axes;
  Index axis = 0;
  const auto whole_axis = [&] { axes.push_back({0, shape[axis++], 1, true}); };
  for (const IndexItem& item : index) {
    if (item.kind == IndexItem::new_axis) {
      axes.push_back({0, 1, 0, true});
    } else if (item.kind == IndexItem::ellipsis) {
      for (Index i = consuming; i < shape.rank(); ++i) whole_axis();
    } else if (item.kind == IndexItem::slice) {
      axes.push_back(chosen_by(item, shape[axis++]));
    } else {
      const Index extent = shape[axis], at = *item.start;
      if (at >= extent || at < -extent)
        throw Error(place, "index " + std::to_string(at) + " is outside axis " +
                               std::to_string(axis) + " of " + std::to_string(extent) + ": " +
                               shape.text());
      axes.push_back({at < 0 ? at + extent : at, 1, 1, false});
      ++axis;
    }
  }
  while (axis < shape.rank()) whole_axis();
  return axes;
}

}  // namespace

std::vector<IndexItem> parse_index(std::string_view text, std::string_view place) {
  std::vector<IndexItem> items;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view word = without_blanks(rest.substr(0, end));
    // Python allows a comma at the end.
    if (word.empty() && (end != rest.size() || items.empty())) refuse(text, place);
    if (!word.empty()) items.push_back(item_of(word, text, place));
    if (std::ssize(items) > 2 * kMostAxes) refuse(text, place);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (std::ranges::count(items, IndexItem::ellipsis, &IndexItem::kind) > 1)
    throw Error(place, "more than one ... in the index " + in_quotes(text));
  return items;
}

Array indexed(const Array& array, const std::vector<IndexItem>& index, std::string_view place) {
  const std::vector<Chosen> chosen = chosen_axes(array.shape(), index, place);
  std::vector<Index> extents;
  for (const Chosen& axis : chosen)
    if (axis.is_kept) extents.push_back(axis.count);
  Shape shape = file_shape(std::move(extents), place);
  if (shape.element_count() == 0) return Array(std::move(shape), array.dtype());

  // Elements from one to the next along each chosen axis, and whether all of them adjoin.
  std::vector<Index> strides(chosen.size());
  Index first = 0, stride = 1;
  Index adjoining = 1;
  bool adjoin = true;
  Index axis = array.shape().rank();
  for (std::size_t i = chosen.size(); i-- > 0;) {
    const Chosen& c = chosen[i];
    if (c.step == 0) continue;  // a new axis
    strides[i] = c.step * stride;
    first += c.first * stride;
    stride *= array.shape()[--axis];
    if (c.count == 1) continue;
    adjoin = adjoin && strides[i] == adjoining;
    adjoining *= c.count;
  }
  if (adjoin) return array.part(first, std::move(shape));

  Array copy(std::move(shape), array.dtype());
  const auto size = static_cast<std::size_t>(size_bytes(array.dtype()));
  std::byte* to = copy.mutable_data();
  std::vector<Index> at(chosen.size());
  Index from = first;
  for (Index left = copy.shape().element_count(); left > 0; --left, to += size) {
    std::memcpy(to, array.data() + from * static_cast<Index>(size), size);
    for (std::size_t i = chosen.size(); i-- > 0;) {
      from += strides[i];
      if (++at[i] < chosen[i].count) break;
      from -= chosen[i].count * strides[i];
      at[i] = 0;
    }
  }
  return copy;
}

}  // namespace sdpa
