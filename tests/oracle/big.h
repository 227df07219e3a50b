#pragma once

// With the macros of mpfr.h its functions would not take a Big.
#define MPFR_USE_NO_MACRO
#include <mpfr.h>

namespace sdpa::oracle {

/// One MPFR number, freed with its owner; stands wherever MPFR wants an mpfr_ptr.
class Big {
 public:
  explicit Big(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  Big(const Big& other) : Big(mpfr_get_prec(other)) { mpfr_set(value_, other, MPFR_RNDN); }
  Big(Big&& other) noexcept : Big(MPFR_PREC_MIN) { mpfr_swap(value_, other); }
  Big& operator=(Big other) noexcept {
    mpfr_swap(value_, other);
    return *this;
  }
  ~Big() { mpfr_clear(value_); }

  operator mpfr_ptr() { return value_; }
  operator mpfr_srcptr() const { return value_; }

 private:
  mpfr_t value_;
};

/// A real number is somewhere in [low, high].
struct Interval {
  Big low, high;
  explicit Interval(mpfr_prec_t precision) : low(precision), high(precision) {}
};

/// The exact result of an operation whose result has finitely many binary digits. operation(r)
/// calls one MPFR function that rounds into r and returns its ternary value: 0 says that nothing
/// was rounded away.
template <class Operation>
Big exact(Operation operation) {
  for (mpfr_prec_t precision = 128;; precision *= 2) {
    Big result(precision);
    if (operation(result) == 0) return result;
  }
}

}  // namespace sdpa::oracle
