#include "report/judgement.h"

#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// One value, what it should be, and how far from that it may be.
struct Value {
  double actual;
  double exact;      // rounded to the type of `actual`
  double reference;  // near the exact value before rounding, as far as float64 holds it
  double allowed;
};

/// Replaces the reference by one no further than half an ulp from the rounded value, as the exact
/// one is. For float64 there is nothing finer than the rounded value, whose rounding adds to what
/// is allowed.
Value refined(Value value, Dtype dtype) {
  if (!std::isfinite(value.exact)) return value;
  const double half_ulp = ulp(value.exact, dtype) / 2;
  if (dtype == Dtype::float64) {
    value.reference = value.exact;
    value.allowed += half_ulp;
  } else if (std::isfinite(value.reference)) {
    value.reference = std::clamp(value.reference, value.exact - half_ulp, value.exact + half_ulp);
  } else {
    value.reference = value.exact;
  }
  return value;
}

/// The error as a multiple of what is allowed.
double multiple(const Value& value, Dtype dtype) {
  if (value.actual == value.exact && std::isinf(value.exact)) return 0;
  if (std::isnan(value.exact)) return std::isnan(value.actual) ? 0 : HUGE_VAL;
  if (std::isinf(value.actual)) {
    const double furthest = value.reference + std::copysign(value.allowed, value.actual);
    return rounded(furthest, dtype) == value.actual ? 1 : HUGE_VAL;
  }
  const double of_allowed = std::fabs(value.actual - value.reference) / value.allowed;
  return of_allowed >= 0 ? of_allowed : HUGE_VAL;
}

}  // namespace

void Judge::add_head(const Array& actual, const Array& exact, const KernelBounds& bounds) {
  for (Index i = 0; i < actual.shape().element_count(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    const Value value =
        refined({actual.at(i), exact.at(i), bounds.output[at], bounds.allowed[at]}, actual.dtype());
    const Index position = judgement_.count++;
    judgement_.actual_nans += std::isnan(value.actual);
    judgement_.exact_nans += std::isnan(value.exact);
    judgement_.exactly_right +=
        value.actual == value.exact || (std::isnan(value.actual) && std::isnan(value.exact));
    if (std::isfinite(value.actual) && std::isfinite(value.exact) && std::isinf(value.allowed)) {
      ++judgement_.unbounded;
      continue;
    }
    const double of_allowed = multiple(value, actual.dtype());
    if (judgement_.worst < 0 || of_allowed > judgement_.worst_multiple) {
      judgement_.worst = position;
      judgement_.worst_multiple = of_allowed;
      judgement_.worst_actual = value.actual;
      judgement_.worst_exact = value.exact;
      judgement_.worst_allowed = value.allowed;
    }
    if (of_allowed > 1) {
      ++judgement_.outside;
      judgement_.pattern.add(position);
    }
  }
}

}  // namespace sdpa
