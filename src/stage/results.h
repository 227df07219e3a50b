#pragma once

#include "array/array.h"

#include <optional>

namespace sdpa {

/// What attention gives for some rows of queries.
struct Attention {
  Array output;                  ///< (T_q, d_v)
  std::optional<Array> weights;  ///< (T_q, T_k), each row sums to one
};

/// Zeros of the float type `dtype`, with weights if they are wanted.
Attention empty_results(Index T_q, Index T_k, Index d_v, Dtype dtype, bool weights);

/// Rows first ... first + count - 1 of results, in the same memory.
Attention rows_of(const Attention& results, Index first, Index count);

/// Rounds values to the matrix's type and stores them from element (row, column) on, in one row.
template <class Number>
void store(Array& matrix, Index row, Index column, const Number* values, Index count) {
  const Index position = row * matrix.shape()[1] + column;
  store_rounded(values, count, matrix.dtype(),
                matrix.mutable_data() + position * size_bytes(matrix.dtype()));
}

}  // namespace sdpa
