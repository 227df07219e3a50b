#pragma once

#include "array/float_format.h"

#include <mpfr.h>

#include <utility>

namespace sdpa {

/// An MPFR number that frees itself.
class BigFloat {
 public:
  explicit BigFloat(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  BigFloat(BigFloat&& other) noexcept : BigFloat(MPFR_PREC_MIN) { mpfr_swap(value_, other.value_); }
  BigFloat& operator=(BigFloat&& other) noexcept {
    mpfr_swap(value_, other.value_);
    return *this;
  }
  ~BigFloat() { mpfr_clear(value_); }

  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

/// Has MPFR free, when the calling thread ends, what it keeps for this thread: constants, and
/// numbers for further use. Whatever computes on a thread of its own calls this.
void free_reals_with_thread();

/// x rounded once to the float type `dtype`, nearest, ties to even; a zero is +0.
double round_real(mpfr_srcptr x, Dtype dtype);

/// The point between a number x of `dtype` and its upper neighbour where rounding changes from one
/// to the other, exactly.
void set_boundary_above(mpfr_ptr boundary, double x, Dtype dtype);

}  // namespace sdpa
