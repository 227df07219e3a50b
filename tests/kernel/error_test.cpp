// The constants of kernel/error.h against the roundings of the kernel, counted step by step.

#include "kernel/error.h"

#include "catch.h"

#include <initializer_list>
#include <limits>

using namespace sdpa::kernel;

namespace {

constexpr double kU = std::numeric_limits<double>::epsilon() / 2, kU2 = kU * kU;

/// Additions that the first of the numerators goes through: those behind it in its chain, the chains
/// behind that in its block, and the blocks in its span.
constexpr double kAdditions =
    (kKeyChain - 1) + (kKeyBlock / kKeyChain - 1) + (kKeySpan / kKeyBlock - 1);

/// The claim must hold, and not allow for much more than was counted.
void check_claim(double claimed, double counted) {
  INFO("claimed " << claimed / kU2 << " u^2, counted " << counted / kU2 << " u^2");
  CHECK(claimed >= counted);
  CHECK(claimed <= 1.15 * counted);
}

}  // namespace

TEST_CASE("error: float64 rounds once where it says so", "[error]") {
  const ArithmeticError& a = kFloat64Error;
  for (const double once : {a.partial_sum, a.subtract, a.rounding, a.divide}) CHECK(once == kU);
  CHECK(a.multiply >= kU);
  // And the total of spans, whose compensation leaves one rounding.
  check_claim(a.sum, (kAdditions + 1) * kU);
  CHECK(a.underflow == std::numeric_limits<double>::denorm_min());
}

TEST_CASE("error: a dot product of double-double, its low parts in chains", "[error]") {
  // Products are cut at a power P of up to 4 |q| |k|: low parts are at most u P, each itself rounded
  // by u of that, and so are their partial sums.
  const double P = 4;
  double low = 0, error = 0;
  for (Index i = 0; i < kFeatureChain; ++i) {
    low += kU * P;
    error += kU * (kU * P) + kU * low;
  }
  check_claim(kDoubleDoubleError.dot, error + 3 * kU2);  // and the sum of two chains
}

TEST_CASE("error: a weighted sum of double-double, its low parts in chains", "[error]") {
  // Of terms whose absolute values add up to 1. A high part loses up to u of the sum to the low
  // parts, and so does a product up to u of itself. Both are added, then to the low parts so far.
  double low = 0, error = 0;
  for (Index j = 0; j < kKeyChain; ++j) {
    const double term = kU + kU / static_cast<double>(kKeyChain);
    low += term;
    error += kU * term + kU * low + kU2 / static_cast<double>(kKeyChain);
  }
  const double joined = 3 * ((kKeyBlock / kKeyChain - 1) + (kKeySpan / kKeyBlock - 1)) * kU2;
  CHECK(kDoubleDoubleError.weighted_sum >= error + joined);
  CHECK(kDoubleDoubleError.weighted_sum <= 2 * (error + joined));
}

TEST_CASE("error: the other sums of double-double, and its scale", "[error]") {
  const ArithmeticError& a = kDoubleDoubleError;
  check_claim(a.total, 3 * kU2);
  check_claim(a.sum, kAdditions * a.total);
  CHECK(a.scale == a.multiply + 0x1p-102);
  // A product of two pairs loses up to half of the smallest number three times.
  CHECK(a.underflow >= 1.5 * std::numeric_limits<double>::denorm_min());
}
