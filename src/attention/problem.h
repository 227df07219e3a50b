#pragma once

#include "array/array.h"
#include "attention/layout.h"
#include "stage/head.h"

#include <string>

namespace sdpa {

/// How messages call the three operands, for example by their files.
struct OperandNames {
  std::string q = "q";
  std::string k = "k";
  std::string v = "v";
};

/// Operands that fit each other, taken apart into heads.
struct Problem {
  HeadMatrices q, k, v;
  Layout layout;
  Shape q_shape;
  Index
      batch;  ///< entries of the batch: the product of all extents of q but its last and its heads
  Extents n;

  /// Heads of all entries: head h of entry b is number b * q.heads() + h.
  Index heads() const { return batch * q.heads(); }

  /// Of query head `number`, with the key head that it uses: h div (H / G) of H query heads that
  /// share G key heads (Ainslie et al. 2023, "GQA: Training Generalized Multi-Query Transformer
  /// Models from Multi-Head Checkpoints").
  Head head(Index number) const;

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
/// v of a rank one higher are (..., G, T_k, d) all the same.
///
/// Throws Error, beginning with the name of the operand at fault and giving both values, if an
/// operand has fewer than two axes, if its last axis does not hold the heads of the layout, if
/// leading extents or heads do not fit, if d_k of k is not that of q, if T_k of v is not that of k,
/// if T_k is 0 (there is no key to attend to) or if d_k is 0 (there is no scale).
Problem check_shapes(const Array& q, const Array& k, const Array& v, const Layout& layout = {},
                     const OperandNames& names = {});

}  // namespace sdpa
