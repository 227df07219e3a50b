// big.h switches off the macros of mpfr.h, which real.h includes too.
#include "oracle/big.h"

#include "exact/big_float.h"

#include "array/float_format.h"
#include "catch.h"
#include "oracle/random.h"
#include "oracle/rounding.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr Dtype kFloats[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};

double number_at(Ordinal ordinal, const Format& format) {
  if (ordinal >= format.infinity) return HUGE_VAL;
  if (ordinal <= -format.infinity) return -HUGE_VAL;
  return mpfr_get_d(value_of(ordinal, format), MPFR_RNDN);
}

/// Every ordinal from minus infinity to the largest number for 16-bit types; else those around
/// zero, the smallest normal number, powers of two and infinity, and random ones.
std::vector<Ordinal> ordinals_of(Dtype dtype) {
  const Format format = format_of(dtype);
  std::vector<Ordinal> ordinals;
  if (size_bytes(dtype) == 2) {
    for (Ordinal ordinal = -format.infinity; ordinal < format.infinity; ++ordinal)
      ordinals.push_back(ordinal);
    return ordinals;
  }
  const Ordinal binade = Ordinal{1} << (format.precision - 1);
  for (const Ordinal center : {Ordinal{0}, binade, 2 * binade, 10 * binade, format.infinity - 2})
    for (Ordinal ordinal = center - 2; ordinal <= center + 1; ++ordinal) {
      ordinals.push_back(ordinal);
      ordinals.push_back(-ordinal);
    }
  ordinals.push_back(-format.infinity);
  Random random(1);
  for (int i = 0; i < 5000; ++i)
    ordinals.push_back(random.integer(-format.infinity, format.infinity - 1));
  REQUIRE(ordinals.size() > 5000);
  return ordinals;
}

}  // namespace

TEST_CASE("next_above: is the next number", "[real]") {
  for (const Dtype dtype : kFloats) {
    const Format format = format_of(dtype);
    for (const Ordinal ordinal : ordinals_of(dtype)) {
      const double x = number_at(ordinal, format), next = number_at(ordinal + 1, format);
      if (next_above(x, dtype) == next) continue;
      FAIL_CHECK(name(dtype) << " after " << x << " comes " << next);
    }
  }
}

TEST_CASE("set_boundary_above: is the midpoint, as if numbers went on beyond the largest",
          "[real]") {
  for (const Dtype dtype : kFloats) {
    const Format format = format_of(dtype);
    for (const Ordinal ordinal : ordinals_of(dtype)) {
      BigFloat boundary(64);
      set_boundary_above(boundary, number_at(ordinal, format), dtype);
      if (mpfr_equal_p(boundary, midpoint_after(ordinal, format)) != 0) continue;
      FAIL_CHECK(name(dtype) << " above " << number_at(ordinal, format));
    }
  }
}

TEST_CASE("set_boundary_above: literals", "[real]") {
  const auto boundary = [](double x, Dtype dtype) {
    BigFloat result(64);
    set_boundary_above(result, x, dtype);
    return mpfr_get_d(result, MPFR_RNDN);
  };
  CHECK(boundary(65504, Dtype::float16) == 65520);
  CHECK(boundary(-HUGE_VAL, Dtype::float16) == -65520);
  CHECK(boundary(0, Dtype::float16) == 0x1p-25);
  CHECK(boundary(-0x1p-24, Dtype::float16) == -0x1p-25);
  CHECK(boundary(std::numeric_limits<float>::max(), Dtype::float32) == 0x1.ffffffp127);
  CHECK(boundary(0, Dtype::bfloat16) == 0x1p-134);
}

TEST_CASE("round_real: rounds once, also right beside a midpoint", "[real]") {
  for (const Dtype dtype : kFloats) {
    const Format format = format_of(dtype);
    for (const Ordinal ordinal : ordinals_of(dtype)) {
      const Big midpoint = midpoint_after(ordinal, format);
      // 2000 bits below the midpoint: no detour over float64 would see it.
      Big below(4000), above(4000);
      mpfr_set(below, midpoint, MPFR_RNDN);
      mpfr_set(above, midpoint, MPFR_RNDN);
      for (int step = 0; step < 3; ++step) {
        mpfr_nextbelow(below);
        mpfr_nextabove(above);
      }
      const double lower = number_at(ordinal, format), upper = number_at(ordinal + 1, format);
      // Of two neighbours the even one has an even ordinal; infinity counts as the even one.
      const double tie = (ordinal & 1) == 0 ? lower : upper;
      if (round_real(below, dtype) == lower && round_real(above, dtype) == upper &&
          round_real(midpoint, dtype) == tie)
        continue;
      FAIL_CHECK(name(dtype) << " above " << lower);
    }
  }
}

TEST_CASE("round_real: a zero is +0", "[real]") {
  for (const Dtype dtype : kFloats)
    for (const int sign : {1, -1}) {
      BigFloat zero(64), tiny(64);
      mpfr_set_zero(zero, sign);
      mpfr_set_si_2exp(tiny, sign, -5000, MPFR_RNDN);
      for (const BigFloat* x : {&zero, &tiny}) {
        CHECK(round_real(*x, dtype) == 0);
        CHECK(!std::signbit(round_real(*x, dtype)));
      }
    }
}
