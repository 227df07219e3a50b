#include "stage/head.h"

#include "catch.h"
#include "oracle/big.h"

#include <algorithm>
#include <cmath>

using namespace sdpa;
using oracle::Big;

namespace {

/// |(scale_high + scale_low) / (log2(e)/sqrt(d_k)) - 1|
double error_of_scale(Index d_k) {
  const Head head =
      make_head(Array(Shape({1, d_k}), Dtype::float32), Array(Shape({1, d_k}), Dtype::float32),
                Array(Shape({1, 1}), Dtype::float32));
  CHECK(head.scale_high == head.scale_high + head.scale_low);

  constexpr mpfr_prec_t kPrecision = 300;
  Big exact(kPrecision), error(kPrecision);
  mpfr_const_log2(exact, MPFR_RNDN);
  mpfr_set_si(error, static_cast<long>(d_k), MPFR_RNDN);
  mpfr_sqrt(error, error, MPFR_RNDN);
  mpfr_mul(exact, exact, error, MPFR_RNDN);
  mpfr_ui_div(exact, 1, exact, MPFR_RNDN);

  mpfr_d_sub(error, head.scale_high, exact, MPFR_RNDN);
  mpfr_add_d(error, error, head.scale_low, MPFR_RNDN);
  mpfr_div(error, error, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error, MPFR_RNDA));
}

}  // namespace

TEST_CASE("head: the scale is log2(e)/sqrt(d_k), within 2^-102 of it") {
  double largest = 0;
  for (Index d_k = 1; d_k <= 2000; ++d_k) largest = std::max(largest, error_of_scale(d_k));
  for (Index d_k : {4096, 4400, 65537, 1000003}) largest = std::max(largest, error_of_scale(d_k));
  CHECK(largest <= 0x1p-102);
  CHECK(largest > 0x1p-104);
}
