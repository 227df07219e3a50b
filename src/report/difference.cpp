#include "report/difference.h"

#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

constexpr Index kChunk = 4096;

/// One place where the values are not equal.
struct Place {
  Index position;
  double actual, expected;
  double absolute;
  std::uint64_t ulps;
};

/// How bad a place is: compared as a pair.
using Badness = std::pair<double, double>;

/// value / allowed, where nothing is within anything.
double multiple(double value, double allowed) {
  return value == 0 ? 0 : value / allowed;
}

/// |a - e|, and what x e and x are beside it, all halved where |a - e| would not fit in float64.
struct Sizes {
  double share, absolute;

  Sizes(double a, double e)
      : share(std::isinf(a - e) ? 0.5 : 1), absolute(std::fabs(share * a - share * e)) {}
};

/// The difference as a multiple of what is allowed; only above 1 it is not.
double multiple_of_allowed(const Place& place, const Tolerance& tolerance) {
  double smallest = HUGE_VAL;
  if (tolerance.max_ulp)
    smallest = multiple(static_cast<double>(place.ulps), static_cast<double>(*tolerance.max_ulp));
  if (tolerance.atol || tolerance.rtol) {
    const Sizes sizes(place.actual, place.expected);
    const double allowed = tolerance.atol.value_or(0) * sizes.share +
                           tolerance.rtol.value_or(0) * std::fabs(place.expected * sizes.share);
    smallest = std::min(smallest, multiple(sizes.absolute, allowed));
  }
  return smallest;
}

double relative(const Place& place) {
  const Sizes sizes(place.actual, place.expected);
  return multiple(sizes.absolute, std::fabs(place.expected * sizes.share));
}

template <class Value>
void raise(Largest<Value>& largest, Value value, Index position) {
  if (largest.position >= 0 && !(value > largest.value)) return;
  largest = {value, position};
}

/// The smallest value that at least `share` of all `count` values do not exceed, of which those not
/// listed are 0.
std::uint64_t percentile(std::vector<std::uint64_t>& above_zero, Index count, double share) {
  const auto rank = static_cast<Index>(std::ceil(share * static_cast<double>(count)));
  const Index zeros = count - static_cast<Index>(above_zero.size());
  if (rank <= zeros) return 0;
  const auto place = above_zero.begin() + (rank - zeros - 1);
  std::nth_element(above_zero.begin(), place, above_zero.end());
  return *place;
}

class Comparison {
 public:
  Comparison(const Array& actual, const Array& expected, const Tolerance& tolerance)
      : actual_(actual),
        expected_(expected),
        tolerance_(tolerance),
        result_{.ulp_type = less_precise(actual.dtype(), expected.dtype()),
                .count = actual.shape().element_count(),
                .pattern = Pattern(actual.shape())} {}

  void look_at(Index position, double a, double e) {
    result_.actual_nans += std::isnan(a);
    result_.expected_nans += std::isnan(e);
    const bool opposite_zeros = a == 0 && e == 0 && std::signbit(a) != std::signbit(e);
    result_.zero_signs += opposite_zeros;
    if (equal(position, a, e)) return;
    ++result_.unequal;
    if (!opposite_zeros && (!std::isfinite(a) || !std::isfinite(e))) {
      ++result_.incomparable;
      return put_outside(position, {HUGE_VAL, HUGE_VAL});
    }
    look_at_numbers({position, a, e, std::fabs(a - e), ulp_distance(a, e, result_.ulp_type)});
  }

  Difference finish() {
    const Index finite = result_.count - result_.incomparable;
    result_.median_ulps = percentile(ulps_above_zero_, finite, 0.5);
    result_.percentile_99_ulps = percentile(ulps_above_zero_, finite, 0.99);
    return std::move(result_);
  }

 private:
  bool equal(Index position, double a, double e) const {
    if (tolerance_.nan_equal && std::isnan(a) && std::isnan(e)) return true;
    if (!tolerance_.bitwise) return a == e;
    const Index size = size_bytes(actual_.dtype());
    return std::memcmp(actual_.data() + position * size, expected_.data() + position * size,
                       static_cast<std::size_t>(size)) == 0;
  }

  void look_at_numbers(const Place& place) {
    raise(result_.absolute, place.absolute, place.position);
    raise(result_.relative, relative(place), place.position);
    count_ulps(place);
    const double of_allowed =
        tolerance_.bitwise ? HUGE_VAL : multiple_of_allowed(place, tolerance_);
    if (!(of_allowed <= 1)) put_outside(place.position, {of_allowed, place.absolute});
  }

  void count_ulps(const Place& place) {
    if (place.ulps == 0) return;
    const bool across_zero = place.actual == 0 || place.expected == 0 ||
                             std::signbit(place.actual) != std::signbit(place.expected);
    ulps_above_zero_.push_back(across_zero ? kInfinitelyFar : place.ulps);
    if (across_zero)
      ++result_.across_zero;
    else if (place.ulps == kInfinitelyFar)
      ++result_.beyond_ulp_type;
    else
      raise(result_.ulps, place.ulps, place.position);
  }

  void put_outside(Index position, Badness badness) {
    ++result_.outside;
    result_.pattern.add(position);
    if (!result_.first) result_.first = position;
    if (!result_.worst || badness > worst_) {
      result_.worst = position;
      worst_ = badness;
    }
  }

  const Array& actual_;
  const Array& expected_;
  const Tolerance& tolerance_;
  Difference result_;
  std::vector<std::uint64_t> ulps_above_zero_;
  Badness worst_{0, 0};
};

}  // namespace

namespace {

/// Whether elements first ... first + count - 1 are the same bytes of one type and finite: then they
/// add nothing to a difference. Looking at the values one by one takes several times as long.
bool same_numbers(const Array& a, const Array& b, Index first, Index count) {
  const Index size = size_bytes(a.dtype());
  return a.dtype() == b.dtype() &&
         std::memcmp(a.data() + first * size, b.data() + first * size,
                     static_cast<std::size_t>(count * size)) == 0 &&
         all_finite(a, first, count);
}

}  // namespace

Difference difference(const Array& actual, const Array& expected, const Tolerance& tolerance) {
  Comparison comparison(actual, expected, tolerance);
  const Index count = actual.shape().element_count();
  std::vector<double> a(kChunk), e(kChunk);
  for (Index first = 0; first < count; first += kChunk) {
    const Index length = std::min(kChunk, count - first);
    if (same_numbers(actual, expected, first, length)) continue;
    read_elements(actual, first, length, a.data());
    read_elements(expected, first, length, e.data());
    for (Index i = 0; i < length; ++i)
      comparison.look_at(first + i, a[static_cast<std::size_t>(i)], e[static_cast<std::size_t>(i)]);
  }
  return comparison.finish();
}

}  // namespace sdpa
