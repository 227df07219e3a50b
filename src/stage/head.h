#pragma once

#include "array/view.h"
#include "stage/visible.h"

#include <span>

namespace sdpa {

/// Extents of one head.
struct Extents {
  Index T_q, T_k, d_k, d_v;
};

/// The real number factor / sqrt(root), by which scores are scaled.
struct ScoreScale {
  double factor = 1;  ///< finite
  Index root = 1;     ///< 1 ... 2^53
};

/// The operands of one head.
struct Head {
  MatrixView q, k, v;  ///< (T_q, d_k), (T_k, d_k), (T_k, d_v)
  Extents n;
  double scale_high, scale_low;              ///< log2(e)/sqrt(d_k), within 2^-102 of it, relatively
  double score_scale_high, score_scale_low;  ///< 1/sqrt(d_k), likewise
  Visible visible = {};  ///< the keys of each query; every key unless something else is set
};

/// Whether two heads have the same k and v, in the same memory.
bool have_same_keys(const Head& a, const Head& b);

/// Rows first ... first + count - 1 of q, whose results are rows at ... at + count - 1 of others.
struct HeadRows {
  const Head* head;
  Index first, count;
  Index at;
};

/// Rows of a matrix, copied.
Array gather_rows(const MatrixView& matrix, std::span<const Index> rows);

/// The head with only these keys.
Head with_keys(const Head& head, std::span<const Index> keys);

/// The head with another mask.
Head with_visible(const Head& head, const Visible& visible);

/// The head of these operands, which fit each other (attention/problem.h).
Head make_head(const MatrixView& q, const MatrixView& k, const MatrixView& v);

}  // namespace sdpa
