#include "stage/sight.h"

#include <algorithm>

namespace sdpa {

namespace {

constexpr Index kWords = kernel::kKeyBlock / kWordKeys;

template <class Number>
constexpr Dtype kDtype = sizeof(Number) == 4 ? Dtype::float32 : Dtype::float64;

}  // namespace

template <class Number>
GroupSight<Number>::GroupSight(std::span<const RowTask> rows, Index lanes)
    : rows_(rows),
      has_bias_(rows.front().head->visible.bias.has_value()),
      any_{rows.front().head->n.T_k, 0},
      all_{0, rows.front().head->n.T_k} {
  for (const RowTask& row : rows) {
    const KeyRun range = row.head->visible.range(row.t, row.head->n.T_k);
    has_arrays_ = has_arrays_ || row.head->visible.mask || row.head->visible.bias;
    any_.first = std::min(any_.first, range.first);
    any_.end = std::max(any_.end, range.end);
    all_.first = std::max(all_.first, range.first);
    all_.end = std::min(all_.end, range.end);
  }
  sight_.stride = (std::ssize(rows) + lanes - 1) / lanes * lanes;
  words_ = Buffers<std::uint32_t>::of_this_thread().sight.hold(kWords * sight_.stride);
  sight_.seen = words_;
  sight_.bias = nullptr;
  if (has_bias_) {
    bias_rows_.resize(rows.size());
    sight_.bias = bias_rows_.data();
  }
}

template <class Number>
Seen GroupSight<Number>::look(Index first, Index keys) {
  if (first >= any_.end || first + keys <= any_.first) return Seen::nothing;
  const bool is_capped = rows_.front().head->has_softcap();
  if (!has_arrays_ && !is_capped && first >= all_.first && first + keys <= all_.end)
    return Seen::everything;

  const Index words = (keys + kWordKeys - 1) / kWordKeys;
  std::uint32_t any[kWords] = {};
  Index seen_by_all = std::ssize(rows_) * keys;
  for (Index t = 0; t < sight_.stride; ++t) {
    std::uint32_t of_row[kWords] = {};
    if (t < std::ssize(rows_)) {
      const RowTask& row = rows_[static_cast<std::size_t>(t)];
      row.head->visible.flags(row.t, first, keys, of_row);
    }
    for (Index c = 0; c < words; ++c) {
      words_[c * sight_.stride + t] = of_row[c];
      any[c] |= of_row[c];
      seen_by_all -= __builtin_popcount(of_row[c]);
    }
  }
  runs_ = runs_of_flags(any, keys);
  if (runs_.empty()) return Seen::nothing;
  if (has_bias_) {
    read_bias(first, keys);
    return Seen::some;
  }
  return seen_by_all == 0 && !is_capped ? Seen::everything : Seen::some;
}

/// Rows of the bias where they lie if the kernel can take them so, else copied.
template <class Number>
void GroupSight<Number>::read_bias(Index first, Index keys) {
  Number* copy = Buffers<Number>::of_this_thread().bias.hold(std::ssize(rows_) * kernel::kKeyBlock);
  const Plane* before = nullptr;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const Plane& bias = *rows_[r].head->visible.bias;
    const Index t = rows_[r].t;
    if (bias.array.dtype() == kDtype<Number> && bias.key_step == 1) {
      bias_rows_[r] = reinterpret_cast<const Number*>(bias.array.data()) + bias.position(t, first);
    } else if (before != nullptr && *before == bias && bias.query_step == 0) {
      bias_rows_[r] = bias_rows_[r - 1];
    } else {
      bias.read(t, first, keys, copy);
      bias_rows_[r] = copy;
      copy += kernel::kKeyBlock;
    }
    before = &bias;
  }
}

template class GroupSight<float>;
template class GroupSight<double>;

}  // namespace sdpa
