#include "stage/visible.h"

#include "base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <mutex>

namespace sdpa {

namespace {

/// Bits first ... end - 1 of a word, where both may lie outside of it.
std::uint32_t bits_of(Index first, Index end) {
  first = std::clamp<Index>(first, 0, kWordKeys);
  end = std::clamp<Index>(end, first, kWordKeys);
  const auto below = [](Index bit) {
    return static_cast<std::uint32_t>((std::uint64_t{1} << bit) - 1);
  };
  return below(end) & ~below(first);
}

/// Bit i is the lowest bit of byte i.
std::uint32_t low_bits(const std::byte* bytes) {
  std::uint64_t eight;
  std::memcpy(&eight, bytes, sizeof eight);
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return static_cast<std::uint32_t>((eight & 0x0101010101010101) * 0x0102040810204080 >> 56);
}

/// Flags of up to kWordKeys elements of row t that are not 0. Elements of one byte are 0 or 1.
std::uint32_t nonzero(const Plane& plane, Index t, Index first, Index count) {
  std::uint32_t word = 0;
  Index i = 0;
  if (plane.key_step == 1 && size_bytes(plane.array.dtype()) == 1) {
    const std::byte* bytes = plane.array.data() + plane.position(t, first);
    for (; i + 8 <= count; i += 8) word |= low_bits(bytes + i) << i;
    for (; i < count; ++i) word |= (std::to_integer<std::uint32_t>(bytes[i]) & 1) << i;
    return word;
  }
  if (plane.key_step == 0) return plane.array.at(plane.position(t, 0)) != 0 ? bits_of(0, count) : 0;
  for (; i < count; ++i)
    word |= std::uint32_t{plane.array.at(plane.position(t, first + i)) != 0} << i;
  return word;
}

/// Flags of up to kWordKeys elements of row t that are not -inf.
std::uint32_t above_minus_infinity(const Plane& plane, Index t, Index first, Index count) {
  double values[kWordKeys];
  plane.read(t, first, count, values);
  std::uint32_t word = 0;
  for (Index i = 0; i < count; ++i) word |= std::uint32_t{values[i] != -HUGE_VAL} << i;
  return word;
}

Index word_count(Index keys) {
  return (keys + kWordKeys - 1) / kWordKeys;
}

}  // namespace

KeyRun Visible::range(Index t, Index T_k) const {
  if (t >= query_length) return {0, 0};
  const Index position = t + offset;
  const Index first = left == kOpen ? 0 : std::clamp<Index>(position - left, 0, T_k);
  const Index end = right == kOpen ? T_k : std::clamp<Index>(position + right + 1, 0, T_k);
  return {first, std::max(first, std::min(end, key_length))};
}

void Visible::flags(Index t, Index first, Index keys, std::uint32_t* words) const {
  const KeyRun all = range(t, first + keys);
  for (Index c = 0; c < word_count(keys); ++c) {
    const Index begin = first + c * kWordKeys, count = std::min(kWordKeys, first + keys - begin);
    std::uint32_t word = bits_of(all.first - begin, all.end - begin);
    if (word != 0 && mask) {
      const std::uint32_t set = nonzero(*mask, t, begin, count);
      word &= mask_hides ? ~set : set;
    }
    if (word != 0 && bias) word &= above_minus_infinity(*bias, t, begin, count);
    words[c] = word;
  }
}

std::vector<KeyRun> runs_of_flags(const std::uint32_t* words, Index keys) {
  std::vector<KeyRun> runs;
  for (Index c = 0; c < word_count(keys); ++c)
    for (std::uint32_t word = words[c]; word != 0;) {
      const int first = std::countr_zero(word);
      const int count = std::countr_one(word >> first);
      const KeyRun run{c * kWordKeys + first, c * kWordKeys + first + count};
      if (!runs.empty() && runs.back().end == run.first)
        runs.back().end = run.end;
      else
        runs.push_back(run);
      word &= ~bits_of(first, first + count);
    }
  return runs;
}

std::vector<KeyRun> Visible::runs(Index t, Index T_k) const {
  if (!mask && !bias) {
    const KeyRun all = range(t, T_k);
    return all.count() == 0 ? std::vector<KeyRun>{} : std::vector<KeyRun>{all};
  }
  std::vector<std::uint32_t> words(static_cast<std::size_t>(word_count(T_k)));
  flags(t, 0, T_k, words.data());
  return runs_of_flags(words.data(), T_k);
}

std::vector<Index> Visible::keys(Index t, Index T_k) const {
  std::vector<Index> keys;
  for (const KeyRun& run : runs(t, T_k))
    for (Index j = run.first; j < run.end; ++j) keys.push_back(j);
  return keys;
}

Visible Visible::from_query(Index first) const {
  Visible rest = *this;
  if (query_length != kOpen) rest.query_length -= first;
  rest.offset += first;
  if (rest.mask) rest.mask->first += first * rest.mask->query_step;
  if (rest.bias) rest.bias->first += first * rest.bias->query_step;
  return rest;
}

std::vector<KeyRun> Survey::seen_runs(Index first, Index end) const {
  std::vector<KeyRun> runs;
  for (Index j = first; j < end; ++j) {
    if (!is_seen(j)) continue;
    const Index begin = j;
    while (j < end && is_seen(j)) ++j;
    runs.push_back({begin, j});
  }
  return runs;
}

namespace {

/// Of queries first ... last - 1.
void survey_rows(const Visible& visible, Index first, Index last, Index T_k, Survey& result,
                 std::mutex& mutex) {
  const bool has_arrays = visible.mask || visible.bias;
  std::vector<std::uint32_t> seen(result.seen.size(), 0), row(seen.size());
  Index marked_first = T_k, marked_end = 0;  // of ranges without a gap between them
  const auto mark = [&](KeyRun run) {
    for (Index c = run.first / kWordKeys; c * kWordKeys < run.end; ++c)
      seen[static_cast<std::size_t>(c)] |=
          bits_of(run.first - c * kWordKeys, run.end - c * kWordKeys);
  };
  for (Index t = first; t < last; ++t) {
    Index& count = result.counts[static_cast<std::size_t>(t)];
    if (!has_arrays) {
      const KeyRun range = visible.range(t, T_k);
      count = range.count();
      if (count == 0) continue;
      if (range.first > marked_end || range.end < marked_first) {
        mark({marked_first, marked_end});
        marked_first = range.first;
        marked_end = range.end;
      }
      marked_first = std::min(marked_first, range.first);
      marked_end = std::max(marked_end, range.end);
      continue;
    }
    visible.flags(t, 0, T_k, row.data());
    count = 0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      count += std::popcount(row[c]);
      seen[c] |= row[c];
    }
  }
  mark({marked_first, marked_end});
  const std::lock_guard lock(mutex);
  for (std::size_t c = 0; c < seen.size(); ++c) result.seen[c] |= seen[c];
}

}  // namespace

Survey survey(const Visible& visible, Index T_q, Index T_k, int threads) {
  constexpr Index kChunk = 512;  // less is not worth a thread
  Survey result{std::vector<Index>(static_cast<std::size_t>(T_q)),
                std::vector<std::uint32_t>(static_cast<std::size_t>(word_count(T_k)))};
  std::mutex mutex;
  parallel_for(threads, (T_q + kChunk - 1) / kChunk, [&](Index c) {
    survey_rows(visible, c * kChunk, std::min((c + 1) * kChunk, T_q), T_k, result, mutex);
  });
  return result;
}

}  // namespace sdpa
