// Compiled once per instruction set, as the kernel is.

#include "bench/peak.h"
#include "kernel/lanes.h"

#include <chrono>

namespace sdpa::kernel::SDPA_ISA {

namespace {

template <class Number>
double operations_per_second() {
  using Vector = typename Lanes<Number>::Vector;
  constexpr int kSums = 12, kSteps = 200000;  // more sums than multiply-adds are in flight
  Vector sums[kSums];
  for (int x = 0; x < kSums; ++x) sums[x] = broadcast(Number(x));
  const auto begin = std::chrono::steady_clock::now();
  for (int step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
    for (int x = 0; x < kSums; ++x)
      sums[x] = fma(sums[x], broadcast(Number(0.5)), broadcast(Number(1)));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  for (int x = 1; x < kSums; ++x) sums[0] += sums[x];
  volatile Number used = sums[0][0];
  static_cast<void>(used);
  return 2.0 * kSums * kSteps * kLanes<Number> / seconds.count();
}

template <class Number>
double giga_operations_per_second() {
  double best = 0;
  for (int repetition = 0; repetition < 5; ++repetition) {
    const double rate = operations_per_second<Number>();
    if (rate > best) best = rate;
  }
  return best / 1e9;
}

}  // namespace

extern const bench::Peak peak = {giga_operations_per_second<float>,
                                 giga_operations_per_second<double>};

}  // namespace sdpa::kernel::SDPA_ISA
