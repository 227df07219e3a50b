#include "report/right_values.h"

#include "array/float_format.h"
#include "report/textbook.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// Whether numbers on both sides of `value` round to different numbers.
bool is_between(double value, Dtype output) {
  const auto near = static_cast<float>(value);
  return rounded(std::nextafter(near, -HUGE_VALF), output) !=
         rounded(std::nextafter(near, HUGE_VALF), output);
}

}  // namespace

Dtype type_of_exact_results(Dtype output) {
  return size_bytes(output) <= 2 ? Dtype::float32 : output;
}

RightValues right_values(const Array& exact, Dtype output,
                         const std::function<Array(Index first, Index count)>& rounded_rows) {
  RightValues values{textbook::values_of(exact), {}};
  values.unrounded = values.rounded;
  if (exact.dtype() == output) return values;
  const Index rows = exact.shape()[0], d_v = exact.shape()[1];
  const auto row_is_between = [&](Index row) {
    const auto first = values.unrounded.begin() + row * d_v;
    return row < rows && std::any_of(first, first + d_v, [&](double value) {
             return std::isfinite(value) && is_between(value, output);
           });
  };
  for (double& value : values.rounded) value = from_bits(bits_of(value, output), output);
  for (Index first = 0; first < rows; ++first) {
    Index last = first;
    while (row_is_between(last)) ++last;
    if (last == first) continue;
    std::ranges::copy(textbook::values_of(rounded_rows(first, last - first)),
                      values.rounded.begin() + first * d_v);
    first = last;
  }
  return values;
}

}  // namespace sdpa
