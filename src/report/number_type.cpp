#include "report/number_type.h"

#include "base/numbers.h"
#include "report/textbook.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sdpa {

namespace {

using Values = std::vector<double>;

Values all_values(const Array& array) {
  const Index count = array.shape().element_count();
  return textbook::values_of(MatrixView(array, 0, 1, count, count));
}

bool holds(Dtype dtype, double value) {
  return !std::isfinite(value) || rounded(value, dtype) == value;
}

/// Whether the shortest decimal of the nearest number of float32 reads as this value.
bool is_decimal_of_float32(double value) {
  const double nearest = rounded(value, Dtype::float32);
  return value == nearest || !std::isfinite(value) ||
         (std::isfinite(nearest) && parse_double(shortest_text(nearest, Dtype::float32)) == value);
}

}  // namespace

std::optional<Dtype> narrower_type(const Array& array) {
  if (array.dtype() != Dtype::float32 && array.dtype() != Dtype::float64) return std::nullopt;
  const Values values = all_values(array);
  if (std::ranges::none_of(values, [](double value) { return std::isfinite(value); }))
    return std::nullopt;
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16})
    if (std::ranges::all_of(values, [&](double value) { return holds(dtype, value); }))
      return dtype;
  if (array.dtype() == Dtype::float64 && std::ranges::all_of(values, is_decimal_of_float32))
    return Dtype::float32;
  return std::nullopt;
}

Array narrowed(const Array& array, Dtype dtype) {
  const Values values = all_values(array);
  Array narrow(array.shape(), dtype);
  store_rounded(values.data(), std::ssize(values), dtype, narrow.mutable_data());
  return narrow;
}

Index count_wider(const Array& array, Dtype dtype) {
  const Values values = all_values(array);
  return std::ranges::count_if(values, [&](double value) { return !holds(dtype, value); });
}

Index needed_evidence(Dtype dtype) {
  return dtype == Dtype::float32 ? 4 : 32;
}

}  // namespace sdpa
