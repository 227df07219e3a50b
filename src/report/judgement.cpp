#include "report/judgement.h"

#include "report/textbook.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// One value, what it should be, and how far from that it may be.
struct Value {
  double actual;
  double exact;      // rounded to the type of `actual`
  double reference;  // before rounding, as far as it is known
  double allowed;
};

/// Where the value before rounding is known no better than the rounded one, half an ulp of it joins
/// what is allowed.
Value refined(Value value, Dtype dtype) {
  if (std::isfinite(value.exact) && type_of_exact_results(dtype) == dtype)
    value.allowed += ulp(value.exact, dtype) / 2;
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
  const double error = std::fabs(value.actual - value.reference);
  if (error == 0) return 0;  // where the bound may underflow, too
  const double of_allowed = error / value.allowed;
  return of_allowed >= 0 ? of_allowed : HUGE_VAL;
}

}  // namespace

Judge::Judge(const Shape& shape)
    : row_size_(shape.from_end(1)),
      judgement_{.pattern = Pattern(shape), .map = BlockMap(shape), .rows = {}} {
  if (row_size_ != 0)
    judgement_.rows.resize(static_cast<std::size_t>(shape.element_count() / row_size_));
}

void Judge::add_rows(const Array& actual, const RightValues& right,
                     std::span<const double> allowed) {
  const std::vector<double> values = textbook::values_of(actual);
  for (std::size_t at = 0; at < values.size(); ++at) {
    const Value value =
        refined({values[at], right.rounded[at], right.unrounded[at], allowed[at]}, actual.dtype());
    const Index position = position_++;
    ++judgement_.count;
    judgement_.actual_nans += std::isnan(value.actual);
    judgement_.exact_nans += std::isnan(value.exact);
    judgement_.exactly_right +=
        value.actual == value.exact || (std::isnan(value.actual) && std::isnan(value.exact));
    if (std::isfinite(value.actual) && std::isfinite(value.exact) && std::isinf(value.allowed)) {
      ++judgement_.unbounded;
      if (errors_ != nullptr) errors_[position] = std::nanf("");
      continue;
    }
    judgement_.judged += !(std::isnan(value.actual) && std::isnan(value.exact));
    const double of_allowed = multiple(value, actual.dtype());
    if (errors_ != nullptr) errors_[position] = static_cast<float>(of_allowed);
    if (judgement_.worst < 0 || of_allowed > judgement_.worst_multiple) {
      judgement_.worst = position;
      judgement_.worst_multiple = of_allowed;
      judgement_.worst_actual = value.actual;
      judgement_.worst_exact = value.exact;
      judgement_.worst_allowed = value.allowed;
    }
    RowJudgement& row = judgement_.rows[static_cast<std::size_t>(position / row_size_)];
    row.worst = std::max(row.worst, of_allowed);
    if (of_allowed > 1) {
      ++row.outside;
      ++judgement_.outside;
      judgement_.pattern.add(position);
      judgement_.map.add(position);
    }
  }
}

}  // namespace sdpa
