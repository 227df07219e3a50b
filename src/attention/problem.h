#pragma once

#include "array/array.h"
#include "attention/layout.h"
#include "attention/packing.h"
#include "stage/head.h"

#include <string>

namespace sdpa {

/// How messages call the three operands, for example by their files.
struct OperandNames {
  std::string q = "q";
  std::string k = "k";
  std::string v = "v";
};

/// `count` rows of all, from `first` on.
struct RowRange {
  Index first, count;
  Index end() const { return first + count; }
};

/// Operands that fit each other, taken apart into heads.
struct Problem {
  HeadMatrices q, k, v;
  Layout layout;
  Shape q_shape;
  Index
      batch;  ///< entries of the batch: the product of all extents of q but its last and its heads
  Extents n;  ///< with packed sequences, T_q and T_k of all together
  Packing packing;  ///< of both, where sequences are packed

  /// Heads of all entries, or of all sequences. Head h of entry b is number b * q.heads() + h, that
  /// of sequence b of B number h * B + b.
  Index heads() const { return batch * q.heads() * packing.sequences(); }

  /// Of query head `number`, with the key head that it uses: h div (H / G) of H query heads that
  /// share G key heads (Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer
  /// Models from Multi-Head Checkpoints"). That of a sequence may have no key.
  Head head(Index number) const;

  /// Rows of all heads, those of one head behind those of the one before.
  Index row_count() const { return batch * q.heads() * n.T_q; }
  RowRange rows_of(Index number) const;  ///< those of head `number`
  Index head_of_row(Index row) const;    ///< the number of the head with this row

  /// Keys of a head, on average over the rows.
  double keys_per_row() const;

  /// (..., heads, T_q, columns), whatever the layout.
  Shape rows_shape(Index columns) const;

  /// As q lies, with d_v for d_k.
  Shape output_shape() const;

  /// Whether the rows of all heads, one head behind the other, are the output as it lies.
  bool output_is_in_order() const;

  /// Puts rows of the output, (count, d_v), of which the first is query t of head h where h * T_q +
  /// t is `first`, where they belong in the whole.
  void place_rows(const Array& rows, Index first, Array& output) const;

  /// An output as it lies, put in the order (..., heads, T_q, d_v).
  Array in_order(const Array& output) const;
};

/// Throws Error, beginning with `name`, if the operand has fewer than two axes or is not of numbers.
void require_matrix(const Array& operand, const std::string& name);

/// The problem of attention on q (..., H, T_q, d_k), k (..., G, T_k, d_k), v (..., G, T_k, d_v), or
/// as `layout` orders them. G divides H. Extents of k and v before these axes are those of q; those
/// that are 1 or absent are shared, and so are heads. Where the last axis of q holds the heads, k and
/// v of a rank one higher are (..., G, T_k, d) all the same. Of packed sequences, each has its own
/// T_q and T_k.
///
/// Throws Error, beginning with the name of the operand at fault and giving both values, if an
/// operand has fewer than two axes, if its last axis does not hold the heads of the layout, if
/// leading extents or heads do not fit, if d_k of k is not that of q, if T_k of v is not that of k,
/// if T_k is 0 (there is no key to attend to) though sequences are not packed, or if d_k is 0 (there
/// is no scale); and what Packing throws.
Problem check_shapes(const Array& q, const Array& k, const Array& v, const Layout& layout = {},
                     const OperandNames& names = {});

}  // namespace sdpa
