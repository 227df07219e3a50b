// Measures what kernel/double_double.h claims against MPFR, on operands that a search for the
// largest errors has found.

#include "kernel/double_double.h"

#include "catch.h"
#include "kernel/error.h"
#include "oracle/big.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

using namespace sdpa::kernel::SDPA_ISA;
using sdpa::kernel::kDoubleDoubleError;
using sdpa::oracle::Big;
using sdpa::oracle::Random;

namespace {

constexpr double kU2 = 0x1p-106;

/// Of both parts; a number of one part has no other.
struct Number {
  double high, low = 0;
};

Big big(Number x) {
  Big result(400);
  mpfr_set_d(result, x.high, MPFR_RNDN);
  mpfr_add_d(result, result, x.low, MPFR_RNDN);
  return result;
}

DoubleDouble pair(Number x) {
  return {broadcast(x.high), broadcast(x.low)};
}

struct Operation {
  const char* name;
  bool second_is_plain;
  double bound;
  std::function<DoubleDouble(Number, Number)> computed;
  int (*exact)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);
  /// Where the error is more than half of the bound.
  Number a, b;
};

const Operation kOperations[] = {
    {"pair + pair",
     false,
     kDoubleDoubleError.total + 13 * kU2 * 0x1p-53,
     [](Number a, Number b) { return add(pair(a), pair(b)); },
     mpfr_add,
     {-1, -0x1.ccaa3d40a230ep-54},
     {0x1.fffffffffffffp-2, 0x1.fd31c42bb81dp-60}},
    {"pair + number",
     true,
     kDoubleDoubleError.subtract,
     [](Number a, Number b) { return add(pair(a), broadcast(b.high)); },
     mpfr_add,
     {8, 0x1.3f5a9d9f34cd3p-51},
     {-0x1.fffffffffffffp+1}},
    {"pair * pair",
     false,
     kDoubleDoubleError.multiply,
     [](Number a, Number b) { return multiply(pair(a), pair(b)); },
     mpfr_mul,
     {0x1.000000002ff91p+0, 0x1.fff8b0eaafb94p-54},
     {0x1.000e7fab7fcc9p+2, 0x1.ffae9ee7a1eb3p-52}},
    {"pair * number",
     true,
     2 * kU2,
     [](Number a, Number b) { return multiply(pair(a), broadcast(b.high)); },
     mpfr_mul,
     {0x1.000013595e76cp+3, -0x1.ffffc83fc179cp-51},
     {0x1.001fb1332121p+1}},
    {"pair / pair",
     false,
     kDoubleDoubleError.divide,
     [](Number a, Number b) { return divide(pair(a), pair(b)); },
     mpfr_div,
     {0x1.00726639123f6p+2, -0x1.ffffffffffffep-52},
     {0x1.000000000e55fp+0, 0x1.fffffed1e825cp-54}}};

/// Relative error as a part of the bound.
double part_of_bound(const Operation& operation, Number a, Number b) {
  const DoubleDouble result = operation.computed(a, b);
  Big exact(400), error = big({result.hi[0], result.lo[0]});
  operation.exact(exact, big(a), big(b), MPFR_RNDN);
  mpfr_sub(error, error, exact, MPFR_RNDN);
  if (mpfr_zero_p(static_cast<mpfr_srcptr>(error)) != 0) return 0;
  mpfr_div(error, error, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error, MPFR_RNDA)) / operation.bound;
}

/// Near a power of two as often as anywhere between, the low part near half a unit in the last
/// place of the high one likewise.
Number random_number(Random& random) {
  const auto part = [&] {
    return std::ldexp(random.fraction(), -static_cast<int>(random.integer(0, 52)));
  };
  const double high = std::ldexp(random.one_in(2) ? 1 + part() : 2 - part(),
                                 static_cast<int>(random.integer(-3, 3)));
  const double half = std::ldexp(1, std::ilogb(high) - 53);
  const double low = half * (random.one_in(2) ? 1 - part() : part());
  const Number x{high, random.one_in(2) ? low : -low};
  return x.high + x.low == x.high ? x : Number{high};
}

}  // namespace

TEST_CASE("double-double: no operation is off by more than its bound, nor by much less",
          "[double_double]") {
  Random random(1);
  for (const Operation& operation : kOperations) {
    INFO(operation.name);
    const double found = part_of_bound(operation, operation.a, operation.b);
    double largest = found;
    for (int i = 0; i < 20000; ++i) {
      const Number a = random_number(random);
      Number b = random_number(random);
      if (operation.second_is_plain) b.low = 0;
      if (random.one_in(2)) b = {-b.high, -b.low};
      largest = std::max(largest, part_of_bound(operation, a, b));
    }
    std::printf("%-13s largest error seen %.3f u^2, bound %.3f u^2\n", operation.name,
                largest * operation.bound / kU2, operation.bound / kU2);
    CHECK(largest <= 1);
    CHECK(found > 0.55);
  }
}
