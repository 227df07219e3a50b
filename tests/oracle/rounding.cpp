#include "oracle/rounding.h"

#include "base/error.h"

#include <algorithm>
#include <cstring>

namespace sdpa::oracle {

namespace {

/// Exponent of the unit in the last place at a non-negative ordinal. The first 2^precision numbers
/// share the smallest unit, each 2^(precision - 1) that follow have one twice as large.
int unit_exponent(Ordinal ordinal, const Format& format) {
  const Ordinal binade = ordinal >> (format.precision - 1);
  return format.smallest_exponent + static_cast<int>(std::max<Ordinal>(binade, 1) - 1);
}

}  // namespace

Format format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::float16:
      return {11, -24, 0x7C00};
    case Dtype::bfloat16:
      return {8, -133, 0x7F80};
    case Dtype::float32:
      return {24, -149, 0x7F800000};
    case Dtype::float8_e4m3fn:
      return {4, -9, 0x7F};
    case Dtype::float8_e5m2:
      return {3, -16, 0x7C};
    case Dtype::float64:
      return {53, -1074, 0x7FF0000000000000};
    default:
      throw Error(std::string(name(dtype)) + " is not a type of results");
  }
}

Big value_of(Ordinal ordinal, const Format& format) {
  const Ordinal magnitude = ordinal < 0 ? -ordinal : ordinal;
  const int unit = unit_exponent(magnitude, format);
  const Ordinal skipped = static_cast<Ordinal>(unit - format.smallest_exponent)
                          << (format.precision - 1);
  const Ordinal units = magnitude - skipped;
  return exact([&](mpfr_ptr r) {
    return mpfr_set_si_2exp(r, ordinal < 0 ? -units : units, unit, MPFR_RNDN);
  });
}

Big midpoint_after(Ordinal ordinal, const Format& format) {
  const Big below = value_of(ordinal, format), above = value_of(ordinal + 1, format);
  Big middle = exact([&](mpfr_ptr r) { return mpfr_add(r, below, above, MPFR_RNDN); });
  mpfr_div_2ui(middle, middle, 1, MPFR_RNDN);
  return middle;
}

Ordinal round_to(mpfr_srcptr x, const Format& format) {
  if (mpfr_zero_p(x)) return 0;
  // 2^(exponent - 1) <= |x| < 2^exponent.
  const mpfr_exp_t exponent = mpfr_get_exp(x);
  const mpfr_exp_t unit =
      std::max<mpfr_exp_t>(exponent - format.precision, format.smallest_exponent);
  const mpfr_exp_t largest_unit = unit_exponent(format.infinity - 1, format);
  if (unit > largest_unit) return mpfr_sgn(x) < 0 ? -format.infinity : format.infinity;

  // |x| in units is below 2^precision. Rounding up to that reaches the next binade's first number,
  // and the ordinals go on just there.
  Big scaled(mpfr_get_prec(x)), rounded(64);
  mpfr_mul_2si(scaled, x, -unit, MPFR_RNDN);
  mpfr_rint(rounded, scaled, MPFR_RNDN);
  const Ordinal units = mpfr_get_si(rounded, MPFR_RNDN);
  const Ordinal skipped = static_cast<Ordinal>(unit - format.smallest_exponent)
                          << (format.precision - 1);
  // The binade of float8_e4m3fn's infinity holds numbers: rounding up may reach beyond its end.
  const Ordinal ordinal = units < 0 ? units - skipped : units + skipped;
  return std::clamp(ordinal, -format.infinity, format.infinity);
}

void store(Ordinal ordinal, Dtype dtype, std::byte* out) {
  const auto size = static_cast<std::size_t>(size_bytes(dtype));
  auto bits = static_cast<std::uint64_t>(ordinal < 0 ? -ordinal : ordinal);
  const bool is_nan = dtype == Dtype::float8_e4m3fn && bits == 0x7F;
  if (ordinal < 0 && !is_nan) bits |= std::uint64_t{1} << (8 * size - 1);
  // Arrays are little-endian here: the low bytes come first.
  std::memcpy(out, &bits, size);
}

}  // namespace sdpa::oracle
