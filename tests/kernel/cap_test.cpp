// Measures what kernel/cap.h claims against MPFR.

#include "kernel/cap.h"

#include "catch.h"
#include "kernel/error.h"
#include "oracle/big.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace sdpa::kernel::SDPA_ISA;
using sdpa::kernel::kDoubleDoubleError;
using sdpa::kernel::kFloat64Error;
using sdpa::oracle::Big;
using sdpa::oracle::Random;

namespace {

constexpr mpfr_prec_t kPrecision = 400;

/// high + low
Big sum_of(double high, double low) {
  Big sum(kPrecision);
  mpfr_set_d(sum, high, MPFR_RNDN);
  mpfr_add_d(sum, sum, low, MPFR_RNDN);
  return sum;
}

/// Relative error of high + low as cap tanh(x ln(2) scale / 2).
double error_of_cap(double cap, const Big& scale, const Big& x, double high, double low) {
  Big exact(kPrecision), error(kPrecision);
  mpfr_const_log2(exact, MPFR_RNDN);
  mpfr_mul(exact, exact, scale, MPFR_RNDN);
  mpfr_mul(exact, exact, x, MPFR_RNDN);
  mpfr_div_2ui(exact, exact, 1, MPFR_RNDN);
  mpfr_tanh(exact, exact, MPFR_RNDN);
  mpfr_mul_d(exact, exact, cap, MPFR_RNDN);
  mpfr_sub(error, sum_of(high, low), exact, MPFR_RNDN);
  mpfr_div(error, error, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error, MPFR_RNDA));
}

/// Products of scale and argument of either sign, evenly over their logarithms, and where exp2 changes
/// its integer part.
double random_product(Random& random) {
  const double size = random.one_in(2) ? std::exp2(140 * random.fraction() - 120)
                                       : static_cast<double>(random.integer(0, 240)) / 2 +
                                             0x1p-20 * (random.fraction() - 0.5);
  return random.one_in(2) ? size : -size;
}

int samples() {
  return std::getenv("SDPA_EXHAUSTIVE") != nullptr ? 3'000'000 : 30'000;
}

}  // namespace

TEST_CASE("cap of float64 and double-double is within its error constant", "[cap]") {
  Random random(1);
  double float64 = 0, double_double = 0;
  for (int i = 0; i < samples(); ++i) {
    const double cap = std::exp2(40 * random.fraction() - 20);
    const double scale_high = std::exp2(20 * random.fraction() - 10);
    const double scale_low = scale_high * 0x1p-54 * (2 * random.fraction() - 1);
    const auto scale = make_scale<double>(
        DoubleDoubleOf<DoubleLanes>{broadcast(scale_high), broadcast(scale_low)});
    const double x = random_product(random) / scale_high;
    const double x_low = x * 0x1p-54 * (2 * random.fraction() - 1);

    DoubleLanes plain[] = {broadcast(x)};
    cap_scores<DoubleLanes>(plain, scale, broadcast(cap));
    float64 = std::max(
        float64, error_of_cap(cap, sum_of(scale_high, scale_low), sum_of(x, 0), plain[0][0], 0));
    DoubleDouble wide[] = {{broadcast(x), broadcast(x_low)}};
    cap_scores<DoubleDouble>(wide, scale, broadcast(cap));
    double_double =
        std::max(double_double, error_of_cap(cap, sum_of(scale_high, scale_low), sum_of(x, x_low),
                                             wide[0].hi[0], wide[0].lo[0]));
  }
  std::printf("cap: of float64 2^%.2f, %.2f of its bound; of double-double 2^%.2f, %.3f\n",
              std::log2(float64), float64 / kFloat64Error.cap, std::log2(double_double),
              double_double / kDoubleDoubleError.cap);
  CHECK(float64 <= kFloat64Error.cap);
  CHECK(float64 > kFloat64Error.cap / 16);
  CHECK(double_double <= kDoubleDoubleError.cap);
  CHECK(double_double > kDoubleDoubleError.cap / 100);
}

TEST_CASE("cap: the ends are the cap itself, and 0 stays 0", "[cap]") {
  const auto scale =
      make_scale<double>(DoubleDoubleOf<DoubleLanes>{broadcast(0.5), broadcast(0.0)});
  for (double x : {1e4, 1e300, -1e4, -1e300}) {
    DoubleDouble wide[] = {{broadcast(x), broadcast(0.0)}};
    cap_scores<DoubleDouble>(wide, scale, broadcast(3.0));
    CHECK(wide[0].hi[0] == std::copysign(3, x));
    CHECK(wide[0].lo[0] == 0);
  }
  DoubleDouble zero[] = {{broadcast(0.0), broadcast(0.0)}};
  cap_scores<DoubleDouble>(zero, scale, broadcast(3.0));
  CHECK(zero[0].hi[0] == 0);
}
