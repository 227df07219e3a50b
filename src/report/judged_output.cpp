#include "report/judged_output.h"

#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// The sinks of heads, which broadcast to (..., H).
std::function<std::optional<double>(Index head)> sinks_of(const Heads& heads) {
  if (!heads.scoring().sinks) return nullptr;
  const Array sinks = heads.scoring().sinks->array;
  const Shape rows = heads.problem().rows_shape(1);
  const Index rank = sinks.shape().rank();
  return [sinks, rows, rank](Index head) -> std::optional<double> {
    Index at = 0, step = 1;
    for (Index axis = 1; axis <= rank; ++axis) {  // from the end
      const bool counts = axis <= rows.rank() - 2;
      const Index extent = counts ? rows.from_end(axis + 2) : 1, own = sinks.shape().from_end(axis);
      if (own != 1) at += head % extent * step;
      step *= own;
      head /= extent;
    }
    return sinks.at(at);
  };
}

}  // namespace

JudgedOutput judged_output(const Heads& heads, const Array& actual, const Arithmetic& arithmetic,
                           const Judgement& judgement, int threads) {
  Roundings roundings{.output = arithmetic.output};
  // Wrong kernels are computed in float64 here, which is off as much as a kernel in float64.
  roundings.sums = std::max(unit_roundoff(arithmetic.sums), 2 * unit_roundoff(Dtype::float64));
  roundings.weights = unit_roundoff(arithmetic.weights);
  roundings.scores = arithmetic.scores ? unit_roundoff(*arithmetic.scores) : 0;
  roundings.products = arithmetic.product_error();
  roundings.exp = arithmetic.exp;
  roundings.step = arithmetic.step;
  const ScoreScale scale = heads.scoring().scale.value_or(ScoreScale{1, heads.problem().n.d_k});
  return {heads.problem(),
          heads.mask(),
          scale.factor / std::sqrt(static_cast<double>(scale.root)),
          heads.scoring().softcap.value_or(0),
          sinks_of(heads),
          actual,
          roundings,
          judgement.rows,
          threads};
}

}  // namespace sdpa
