#include "exact/exact_sum.h"

#include <cmath>

namespace sdpa {

namespace {

/// Products below this may have a low half that float64 does not hold.
constexpr double kSmallestSplit = 0x1p-960;

/// Sums whose rounding errors are kept: high takes the numbers, low the errors of high, and lost
/// the absolute values of those of low, which is then off by less than 2^-24 of itself (two_sum:
/// Knuth, "The Art of Computer Programming" 2, section 4.2.2).
class Accumulator {
 public:
  void add(double x) { add_low(add_to(high_, x)); }
  void add_low(double x) { lost_ += std::fabs(add_to(low_, x)); }
  void add_product(double x, double y) {
    const double product = x * y;
    // The fma, and product if there is none, may be off by half of the smallest number.
    if (!(std::fabs(product) >= kSmallestSplit) && x != 0 && y != 0) lost_ += 0x1p-1074;
    add(product);
    add_low(std::fma(x, y, -product));
  }

  /// Adds what another sum holds.
  void add(const Accumulator& other) {
    add(other.high_);
    add_low(other.low_);
    lost_ += other.lost_;
  }

  ExactSum result() {
    const double low = add_to(high_, low_);
    return {high_, low, std::isfinite(high_) ? lost_ * (1 + 0x1p-20) : HUGE_VAL};
  }

 private:
  /// sum += x, and what the rounding lost.
  static double add_to(double& sum, double x) {
    const double next = sum + x;
    const double x_part = next - sum;
    const double lost = (sum - (next - x_part)) + (x - x_part);
    sum = next;
    return lost;
  }

  double high_ = 0, low_ = 0, lost_ = 0;
};

constexpr Index kSums = 4;  // that need not wait for each other

/// add_term(sum, i) for i = 0 ... count - 1, to several sums in turn; all together.
template <class AddTerm>
ExactSum sum_of_terms(Index count, const AddTerm& add_term) {
  Accumulator sums[kSums];
  Index i = 0;
  if (count >= kSums) {
    for (; i + kSums <= count; i += kSums)
      for (Index s = 0; s < kSums; ++s) add_term(sums[s], i + s);
    for (Index s = 1; s < kSums; ++s) sums[0].add(sums[s]);
  }
  for (; i < count; ++i) add_term(sums[0], i);
  return sums[0].result();
}

/// Whether all are float32 numbers: two of them have a product of at most 48 bits, above 2^-300.
bool are_floats(const double* x, Index count) {
  Index others = 0;
  for (Index i = 0; i < count; ++i) others += static_cast<double>(static_cast<float>(x[i])) != x[i];
  return others == 0;
}

}  // namespace

ExactSum exact_sum(const double* x, Index count) {
  return sum_of_terms(count, [&](Accumulator& sum, Index i) { sum.add(x[i]); });
}

ExactSum exact_dot(const double* x, const double* y, Index count) {
  // Asked first because an fma can be a slow call.
  if (are_floats(x, count) && are_floats(y, count))
    return sum_of_terms(count, [&](Accumulator& sum, Index i) { sum.add(x[i] * y[i]); });
  return sum_of_terms(count, [&](Accumulator& sum, Index i) { sum.add_product(x[i], y[i]); });
}

}  // namespace sdpa
