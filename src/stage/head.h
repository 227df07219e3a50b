#pragma once

#include "array/view.h"
#include "stage/visible.h"

#include <algorithm>
#include <cmath>
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
  MatrixView q, k, v;  ///< (T_q, d_k), (T_k, d_k), (T_k, d_v); q is read by read_query
  Extents n;
  ScoreScale scale;              ///< c, above 0
  double q_sign;                 ///< what every number of q is to be multiplied with: 1, -1, or 0
  double scale_high, scale_low;  ///< log2(e) c, within 2^-102 of it, relatively, if c is moderate
  double score_scale_high, score_scale_low;  ///< c, likewise
  double softcap = HUGE_VAL;  ///< C: a scaled score s becomes C tanh(s/C); infinite: it stays
  double sink = -HUGE_VAL;    ///< one more logit, without a value; -inf: none
  Visible visible = {};       ///< the keys of each query; every key unless something else is set

  /// Row t of q with its sign, q_t [d_k].
  template <class Number>
  void read_query(Index t, Number* q_t) const {
    q.read_rows(t, 1, q_t);
    if (q_sign == 1) return;
    for (Index i = 0; i < n.d_k; ++i) q_t[i] *= static_cast<Number>(q_sign);
  }

  bool has_softcap() const { return softcap != HUGE_VAL; }
  bool has_sink() const { return sink != -HUGE_VAL; }

  /// Whether there is nothing but q k^T, whatever the scale, of all keys.
  bool is_plain() const { return visible.is_everything() && !has_softcap() && !has_sink(); }

  /// What bounds the scores that a cap makes of those up to `bound`.
  double capped(double bound) const { return std::min(bound, softcap); }

  /// Whether no operation on c and on the cap comes near the limits of float64.
  bool is_scale_moderate() const {
    const auto is_moderate = [](double x) { return x > 0x1p-400 && x < 0x1p400; };
    return is_moderate(score_scale_high) && (!has_softcap() || is_moderate(softcap));
  }
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

/// The head of these operands, which fit each other (attention/problem.h), with the scale
/// 1/sqrt(d_k).
Head make_head(const MatrixView& q, const MatrixView& k, const MatrixView& v);

/// Gives the head another scale. A scale below 0 is its absolute value with q negated, and a scale of
/// 0 is 1 with zeros for q: the scores are the same.
void set_scale(Head& head, const ScoreScale& scale);

/// A head of other operands, which is scaled like `like` and sees everything.
Head head_like(const Head& like, const MatrixView& q, const MatrixView& k, const MatrixView& v);

}  // namespace sdpa
