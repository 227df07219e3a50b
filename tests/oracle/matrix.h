#pragma once

#include "array/array.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace sdpa::oracle {

/// A matrix of the float type `dtype`; values in C order, each rounded once.
inline Array matrix(Index rows, Index columns, const std::vector<double>& values,
                    Dtype dtype = Dtype::float64) {
  Array array(Shape({rows, columns}), dtype);
  store_rounded(values.data(), rows * columns, dtype, array.mutable_data());
  return array;
}

/// The same, written row by row as {{1, 2}, {3, 4}}.
inline Array matrix(std::initializer_list<std::initializer_list<double>> rows,
                    Dtype dtype = Dtype::float64) {
  std::vector<double> values;
  for (const auto& row : rows) values.insert(values.end(), row);
  const auto count = static_cast<Index>(rows.size());
  return matrix(count, static_cast<Index>(rows.begin()->size()), values, dtype);
}

/// All elements in C order, exactly.
inline std::vector<double> values_of(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.shape().element_count()));
  read_elements(array, 0, array.shape().element_count(), values.data());
  return values;
}

/// Whether two arrays have the same type, shape and bytes.
inline bool same_bytes(const Array& a, const Array& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin());
}

}  // namespace sdpa::oracle
