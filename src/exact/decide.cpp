#include "exact/decide.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace sdpa {

namespace {

/// high + low rounded to odd: cut, and the last bit set if anything was cut off. A further rounding
/// to a format that is at least two bits shorter then gives what a single one would (Boldo,
/// Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Comput. 57 (2008)).
double sum_to_odd(double high, double low) {
  const double sum = high + low;
  const double low_part = sum - high;
  const double lost = (high - (sum - low_part)) + (low - low_part);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (lost == 0 || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace

double round_sum(double high, double low, Dtype dtype) {
  const double sum = dtype == Dtype::float64 ? high + low : rounded(sum_to_odd(high, low), dtype);
  return sum + 0.0;
}

namespace {

double decide_sum(double high, double low, double error, Dtype dtype) {
  // The ends low - error and low + error are rounded themselves, by at most 2^-53 of |low| and error
  // together, unless they are subnormal: then they are exact.
  const double widened = error == 0 ? 0 : error * (1 + 0x1p-50) + 0x1p-52 * std::fabs(low);
  const double rounded = round_sum(high, low - widened, dtype);
  const bool same = rounded == round_sum(high, low + widened, dtype);
  return same && std::isfinite(high) ? rounded : std::nan("");
}

/// The common case, in a form that compilers turn into vectors. An end high + widened is rounded to
/// float64 by at most 2^-53 (|high| + widened), and so is what makes up `widened`; 2^-52 |high| and
/// 2^-51 error make up for all of it, whichever is larger. Rounding once more to float32 keeps the
/// order of the ends, so equal ones still decide.
void decide_float32(const double* high, const double* error, Index count, double* rounded) {
  for (Index i = 0; i < count; ++i) {
    const double widened =
        error[i] == 0 ? 0 : error[i] * (1 + 0x1p-51) + 0x1p-52 * std::fabs(high[i]);
    const auto below = static_cast<float>(high[i] - widened);
    const auto above = static_cast<float>(high[i] + widened);
    const bool finite = std::fabs(high[i]) < HUGE_VAL;
    rounded[i] = below == above && finite ? below + 0.0 : std::nan("");
  }
}

}  // namespace

Index decide(const double* high, const double* low, const double* error, Index count, Dtype dtype,
             double* rounded) {
  if (low == nullptr && dtype == Dtype::float32)
    decide_float32(high, error, count, rounded);
  else
    for (Index i = 0; i < count; ++i)
      rounded[i] = decide_sum(high[i], low == nullptr ? 0 : low[i], error[i], dtype);
  return std::count_if(rounded, rounded + count, [](double x) { return std::isnan(x); });
}

}  // namespace sdpa
