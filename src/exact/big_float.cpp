#include "exact/big_float.h"

#include "exact/decide.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace sdpa {

void free_reals_with_thread() {
  struct Cache {
    ~Cache() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  };
  [[maybe_unused]] thread_local const Cache cache;
}

double round_real(mpfr_srcptr x, Dtype dtype) {
  if (dtype == Dtype::float64) return mpfr_get_d(x, MPFR_RNDN) + 0.0;
  // Cut to float64 with a sticky last bit, so that the second rounding is the only one that shows.
  double cut = mpfr_get_d(x, MPFR_RNDZ);
  if (mpfr_cmp_d(x, cut) != 0 && (std::bit_cast<std::uint64_t>(cut) & 1) == 0)
    cut = std::bit_cast<double>(std::bit_cast<std::uint64_t>(cut) + 1);
  return round_sum(cut, 0, dtype);
}

void set_boundary_above(mpfr_ptr boundary, double x, Dtype dtype) {
  const double next = next_above(x, dtype);
  // Beyond the largest number rounding acts as if one more of the same step followed.
  const double largest = std::isfinite(x) ? std::fabs(x) : std::fabs(next);
  const double last_step = largest + next_above(-largest, dtype);
  const double base = std::isfinite(x) ? x : next;
  BigFloat half(64);
  if (std::isfinite(x) && std::isfinite(next)) {
    mpfr_set_d(half, next, MPFR_RNDN);
    mpfr_sub_d(half, half, x, MPFR_RNDN);
  } else {
    mpfr_set_d(half, std::copysign(last_step, base), MPFR_RNDN);
  }
  mpfr_div_2ui(half, half, 1, MPFR_RNDN);
  mpfr_add_d(boundary, half, base, MPFR_RNDN);
}

}  // namespace sdpa
