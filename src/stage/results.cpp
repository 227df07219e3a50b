#include "stage/results.h"

namespace sdpa {

Attention empty_results(Index T_q, Index T_k, Index d_v, Dtype dtype, bool weights) {
  Attention results{Array(Shape({T_q, d_v}), dtype), std::nullopt};
  if (weights) results.weights = Array(Shape({T_q, T_k}), dtype);
  return results;
}

Attention rows_of(const Attention& results, Index first, Index count) {
  Attention rows{results.output.rows(first, count), std::nullopt};
  if (results.weights) rows.weights = results.weights->rows(first, count);
  return rows;
}

}  // namespace sdpa
