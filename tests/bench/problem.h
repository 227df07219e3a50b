#pragma once

#include "array/array.h"

#include <random>

namespace sdpa::bench {

/// A matrix of normally distributed float32 numbers.
inline Array normal_matrix(Index rows, Index columns, std::uint64_t seed, double deviation = 1) {
  Array matrix(Shape({rows, columns}), Dtype::float32);
  auto* values = reinterpret_cast<float*>(matrix.mutable_data());
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0, deviation);
  for (Index i = 0; i < rows * columns; ++i) values[i] = static_cast<float>(normal(generator));
  return matrix;
}

/// Values whose plain mean lies halfway between two float32 numbers: 1 and the number after it,
/// alternating.
inline Array tie_matrix(Index rows, Index columns) {
  Array matrix(Shape({rows, columns}), Dtype::float32);
  auto* values = reinterpret_cast<float*>(matrix.mutable_data());
  for (Index i = 0; i < rows * columns; ++i)
    values[i] = (i / columns) % 2 == 0 ? 1.0F : 0x1.000002p+0F;
  return matrix;
}

}  // namespace sdpa::bench
