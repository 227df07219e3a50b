#include "attention/mask.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// Whether any byte of the array is neither 0 nor 1; `position` is then that of the first.
bool has_other_bytes(const Array& array, Index& position) {
  const auto bytes = array.bytes();
  unsigned all = 0;
  for (const std::byte byte : bytes) all |= std::to_integer<unsigned>(byte);
  if (all <= 1) return false;
  const auto other =
      std::ranges::find_if(bytes, [](std::byte byte) { return byte > std::byte{1}; });
  position = other - bytes.begin();
  return true;
}

void require_truth_values(const NamedArray& mask) {
  const Array& array = mask.array;
  if (is_float(array.dtype()))
    throw Error(mask.name,
                "holds " + std::string(name(array.dtype())) +
                    ", but a mask is bool; numbers that are added to the scores are given "
                    "with --bias");
  Index position = -1;
  if (size_bytes(array.dtype()) == 1) {
    if (!has_other_bytes(array, position)) return;
  } else {
    for (Index i = 0; i < array.shape().element_count() && position < 0; ++i)
      if (array.at(i) != 0 && array.at(i) != 1) position = i;
    if (position < 0) return;
  }
  throw Error(mask.name, "element " + array.shape().index_text(position) + " is " +
                             std::to_string(static_cast<long long>(array.at(position))) +
                             ", but those of a mask are 0 or 1");
}

void require_numbers(const NamedArray& bias) {
  if (bias.array.dtype() == Dtype::boolean)
    throw Error(
        bias.name,
        "holds bool, but a bias is numbers that are added to the scores; a mask is given with "
        "--mask");
}

bool broadcasts(std::span<const Index> extents, std::span<const Index> to) {
  if (extents.size() > to.size()) return false;
  to = to.last(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (extents[i] != 1 && extents[i] != to[i]) return false;
  return true;
}

std::string side_text(Index keys) {
  return keys == Visible::kOpen ? "inf" : std::to_string(keys);
}

}  // namespace

bool MaskOptions::is_everything() const {
  return !causal && !window && !key_lengths && !query_lengths && !mask && !bias;
}

Mask::Mask(const MaskOptions& options, std::span<const Index> leading, bool has_heads, Index T_q,
           Index T_k, const Packing& packing)
    : options_(options),
      packing_(packing),
      leading_(leading.begin(), leading.end()),
      T_q_(T_q),
      T_k_(T_k) {
  for (Index extent : leading_) entries_ *= extent;
  if (has_heads) heads_of_entry_ = leading_.back();
  if (heads_of_entry_ != 0) entries_ /= heads_of_entry_;
  if (packing_.is_packed()) {
    refuse_arrays_of_sequences();
    entries_ = packing_.sequences();
  }
  require_alignment();
  key_lengths_ = lengths(options_.key_lengths, T_k_, "T_k");
  query_lengths_ = lengths(options_.query_lengths, T_q_, "T_q");
  if (options_.mask) {
    require_truth_values(*options_.mask);
    require_broadcast(*options_.mask);
  }
  if (options_.bias) {
    require_numbers(*options_.bias);
    require_broadcast(*options_.bias);
  }
}

void Mask::refuse_arrays_of_sequences() const {
  for (const std::optional<NamedArray>* array :
       {&options_.key_lengths, &options_.query_lengths, &options_.mask, &options_.bias})
    if (*array)
      throw Error((*array)->name,
                  "packed sequences take no mask, bias or lengths: their offsets say which keys "
                  "there are");
}

/// Empty if they do not.
std::string Mask::why_corners_differ() const {
  if (!packing_.is_packed()) {
    if (T_q_ != T_k_)
      return "T_q is " + std::to_string(T_q_) + " and T_k is " + std::to_string(T_k_);
    return options_.key_lengths || options_.query_lengths ? "lengths are given" : "";
  }
  for (Index b = 0; b < packing_.sequences(); ++b)
    if (packing_.queries(b) != packing_.keys(b))
      return "T_q of sequence " + std::to_string(b) + " is " + std::to_string(packing_.queries(b)) +
             " and T_k is " + std::to_string(packing_.keys(b));
  return "";
}

void Mask::require_alignment() const {
  const bool moves = options_.causal || options_.window;
  const std::string what = options_.causal ? "--causal" : "--window";
  if (options_.align && !moves)
    throw Error("--align", "there is nothing to align, neither --causal nor --window is given");
  if (options_.align || !moves) return;
  const std::string why = why_corners_differ();
  if (why.empty()) return;
  throw Error(what,
              why +
                  ", so give --align top-left (PyTorch is_causal, JAX, Keras, ONNX without a "
                  "cache) or --align bottom-right (FlashAttention, MLX, decoding with a cache)");
}

std::vector<Index> Mask::lengths(const std::optional<NamedArray>& given, Index longest,
                                 const char* extent) const {
  if (!given) return {};
  const Array& array = given->array;
  const Index count = array.shape().element_count();
  if (array.dtype() == Dtype::boolean)
    throw Error(given->name, "holds bool, but lengths are integers");
  if (count != 1 && count != entries_)
    throw Error(given->name, std::to_string(count) + " lengths, but the batch has " +
                                 std::to_string(entries_) +
                                 (entries_ == 1 ? " entry" : " entries"));
  std::vector<Index> lengths;
  for (Index i = 0; i < count; ++i) {
    const double length = array.at(i);
    const std::string text = shortest_text(length, Dtype::float64);
    if (std::trunc(length) != length)
      throw Error(given->name, "length " + text + " is not an integer");
    if (length < 0) throw Error(given->name, "length " + text + " is negative");
    if (!(length <= static_cast<double>(longest)))
      throw Error(given->name, "length " + text + " is beyond " + extent + ", which is " +
                                   std::to_string(longest));
    lengths.push_back(static_cast<Index>(length));
  }
  lengths.resize(static_cast<std::size_t>(entries_), lengths.front());
  return lengths;
}

void Mask::require_broadcast(const NamedArray& given) const {
  std::vector<Index> scores = leading_;
  scores.push_back(T_q_);
  scores.push_back(T_k_);
  const auto extents = given.array.shape().extents();
  if (broadcasts(extents, scores)) return;
  std::string hint;
  const std::vector<Index> own(extents.begin(), extents.end());
  // A batch without an axis for heads, or for heads and queries.
  if (own.size() == 3 && scores.size() == 4) {
    const std::vector<Index> with_heads = {own[0], 1, own[1], own[2]};
    if (broadcasts(with_heads, scores)) hint = Shape(with_heads).text();
  }
  if (own.size() == 2 && scores.size() > 2) {
    std::vector<Index> with_axes(scores.size(), 1);
    with_axes.front() = own[0];
    with_axes.back() = own[1];
    if (broadcasts(with_axes, scores)) hint = Shape(with_axes).text();
  }
  if (!hint.empty()) hint = "; as a mask for each batch entry its shape would be " + hint;
  if (hint.empty() && own.size() >= 2) {
    std::vector<Index> transposed = own;
    std::swap(transposed[own.size() - 1], transposed[own.size() - 2]);
    if (broadcasts(transposed, scores)) hint = "; rows are queries, columns are keys";
  }
  throw Error(given.name, "shape " + given.array.shape().text() +
                              " does not broadcast to that of the scores, " + Shape(scores).text() +
                              hint);
}

Plane Mask::plane_of(const Array& array, Index h) const {
  const auto extents = array.shape().extents();
  const std::size_t rank = extents.size();
  std::vector<Index> all = leading_;
  all.push_back(T_q_);
  all.push_back(T_k_);
  std::vector<Index> steps(all.size(), 0);
  Index step = 1;
  for (std::size_t i = 1; i <= rank; ++i) {
    const Index extent = extents[rank - i];
    steps[all.size() - i] = extent == 1 ? 0 : step;
    step *= extent;
  }
  Plane plane{array, 0, steps[all.size() - 2], steps[all.size() - 1]};
  for (std::size_t axis = leading_.size(); axis-- > 0; h /= leading_[axis])
    plane.first += h % leading_[axis] * steps[axis];
  return plane;
}

Index Mask::offset_of(Index entry) const {
  if (!options_.align) return 0;
  const auto at = static_cast<std::size_t>(entry);
  switch (options_.align->corner) {
    case Alignment::Corner::top_left:
      return 0;
    case Alignment::Corner::offset:
      return options_.align->offset;
    default:
      if (packing_.is_packed()) return packing_.keys(entry) - packing_.queries(entry);
      return (key_lengths_.empty() ? T_k_ : key_lengths_[at]) -
             (query_lengths_.empty() ? T_q_ : query_lengths_[at]);
  }
}

Visible Mask::of_head(Index h) const {
  const Index entry = entry_of(h);
  const auto at = static_cast<std::size_t>(entry);
  Visible visible;
  if (!key_lengths_.empty()) visible.key_length = key_lengths_[at];
  if (!query_lengths_.empty()) visible.query_length = query_lengths_[at];
  visible.offset = offset_of(entry);
  if (options_.window) {
    visible.left = options_.window->left;
    visible.right = options_.window->right;
  }
  if (options_.causal) visible.right = std::min<Index>(visible.right, 0);
  if (options_.mask) visible.mask = plane_of(options_.mask->array, h);
  visible.mask_hides = options_.mask_hides;
  if (options_.bias) visible.bias = plane_of(options_.bias->array, h);
  return visible;
}

std::string Mask::text() const {
  std::vector<std::string> parts;
  if (options_.causal) parts.push_back("causal");
  if (options_.window)
    parts.push_back("window " + side_text(options_.window->left) + "," +
                    side_text(options_.window->right));
  if (options_.causal || options_.window) {
    std::vector<Index> offsets;
    for (Index entry = 0; entry < entries_; ++entry) offsets.push_back(offset_of(entry));
    if (offsets.empty()) offsets.push_back(0);
    const bool bottom_right =
        options_.align && options_.align->corner == Alignment::Corner::bottom_right;
    const bool top_left = options_.align && options_.align->corner == Alignment::Corner::top_left;
    const auto [least, largest] = std::ranges::minmax(offsets);
    const std::string offset = (least == largest ? "offset " : "offsets ") + values_text(offsets);
    if (bottom_right)
      parts.push_back("bottom-right (" + offset + ")");
    else if (top_left)
      parts.push_back("top-left (offset 0)");
    else if (options_.align)
      parts.push_back(offset);
  }
  const auto add_lengths = [&](const char* what, const std::vector<Index>& values) {
    if (!values.empty()) parts.push_back(what + values_text(values));
  };
  add_lengths("key lengths ", key_lengths_);
  add_lengths("query lengths ", query_lengths_);
  if (options_.mask)
    parts.push_back("mask " + options_.mask->name +
                    (options_.mask_hides ? " (true hides)" : " (true attends)"));
  if (options_.bias) parts.push_back("bias " + options_.bias->name);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text.empty() ? "no mask" : text;
}

std::string Mask::warning() const {
  if (!options_.bias) return "";
  const Array& bias = options_.bias->array;
  bool has_zero = false, has_one = false;
  for (Index i = 0; i < bias.shape().element_count(); ++i) {
    const double x = bias.at(i);
    if (x != 0 && x != 1) return "";
    (x == 0 ? has_zero : has_one) = true;
  }
  if (!has_zero || !has_one) return "";
  return options_.bias->name + ": looks like a mask of 0 and 1: did you mean --mask?";
}

}  // namespace sdpa
