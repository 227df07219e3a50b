#pragma once

#include "attention/named_array.h"
#include "attention/packing.h"
#include "stage/visible.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sdpa {

/// Keys left and right of a query's position that it sees; Visible::kOpen: all of that side.
struct Window {
  Index left, right;
};

/// Which key is at the position of query 0.
struct Alignment {
  enum class Corner {
    top_left,      ///< key 0
    bottom_right,  ///< the one that puts the last query at the last key
    offset,        ///< key `offset`
  };
  Corner corner = Corner::top_left;
  Index offset = 0;
};

/// What stands in the rows of queries that see no key.
enum class EmptyRows {
  zero,   ///< output and weights 0
  nan,    ///< NaN
  mean,   ///< the mean of all T_k rows of v, weights 1/T_k
  error,  ///< nothing: the first such row is an error
};

/// Which keys the queries see, and what is added to their scores. Query t is at the position p = t +
/// offset, and sees key j if all conditions hold that are given.
struct MaskOptions {
  bool causal = false;                        ///< j <= p
  std::optional<Window> window{};             ///< p - left <= j <= p + right
  std::optional<Alignment> align{};           ///< the offset; must be given where corners differ
  std::optional<NamedArray> key_lengths{};    ///< j < length: one for all, or one a batch entry
  std::optional<NamedArray> query_lengths{};  ///< t < length: likewise; rows behind it are 0
  std::optional<NamedArray> mask{};           ///< the element, bool or an integer 0 or 1, is true
  bool mask_hides = false;                    ///< ... is false
  std::optional<NamedArray> bias{};  ///< the element is not -inf; it is added to the scaled score
  EmptyRows empty_rows = EmptyRows::zero;
  std::string name = "mask";  ///< how messages call these options where none is at fault alone

  /// Whether no condition and no bias is given.
  bool is_everything() const;
};

/// The options laid over heads of (T_q, T_k) scores, or over those of packed sequences.
class Mask {
 public:
  /// leading    extents before (T_q, T_k): the heads of all entries of the batch, in C order
  /// has_heads  whether the last of them counts heads; the others, or all, are the batch, whose
  ///            entries have lengths
  ///
  /// Throws Error, beginning with the option or file at fault and giving both values, if causal or
  /// a window is given without the alignment that it needs, an alignment without either, if lengths
  /// are negative, too large or of the wrong number, or an array has the wrong type or a shape that
  /// does not broadcast to (leading..., T_q, T_k). The same, if packed sequences come with arrays or
  /// lengths.
  Mask(const MaskOptions& options, std::span<const Index> leading, bool has_heads, Index T_q,
       Index T_k, const Packing& packing = {});

  EmptyRows empty_rows() const { return options_.empty_rows; }
  bool is_everything() const { return options_.is_everything(); }

  /// Head h of all, counted in C order; with packed sequences, sequence h % B of head h / B.
  Visible of_head(Index h) const;

  /// What was applied, as "causal, bottom-right (offset 24), window 128,0".
  std::string text() const;

  /// A remark about arrays that look as if another option had been meant; mostly empty.
  std::string warning() const;

 private:
  Index entry_of(Index h) const {
    return packing_.is_packed() ? h % packing_.sequences() : h / heads_of_entry_;
  }
  Index offset_of(Index entry) const;
  void refuse_arrays_of_sequences() const;
  void require_alignment() const;
  std::string why_corners_differ() const;
  std::vector<Index> lengths(const std::optional<NamedArray>& given, Index longest,
                             const char* extent) const;
  Plane plane_of(const Array& array, Index h) const;
  void require_broadcast(const NamedArray& given) const;

  MaskOptions options_;
  Packing packing_;
  std::vector<Index> leading_;
  Index T_q_, T_k_;
  Index entries_ = 1, heads_of_entry_ = 1;
  std::vector<Index> key_lengths_, query_lengths_;  ///< one a batch entry, or empty
};

}  // namespace sdpa
