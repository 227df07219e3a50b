#include "oracle/scorings.h"

#include "oracle/random.h"

#include <cmath>

namespace sdpa::oracle {

namespace {

ScoreScale random_scale(Random& random) {
  switch (random.integer(0, 6)) {
    case 0:
      return {1, random.integer(1, 70)};
    case 1:
      return {0, 1};
    case 2:
      return {random.one_in(2) ? 0.125 : -1, 1};
    case 3:
      return {static_cast<double>(0.1f), 1};
    case 4:
      return {std::ldexp(random.fraction() - 0.5, static_cast<int>(random.integer(-60, 60))), 1};
    default:
      return {2 * (random.fraction() - 0.5), 1};
  }
}

double random_softcap(Random& random) {
  switch (random.integer(0, 4)) {
    case 0:
      return 50;
    case 1:
      return 1;
    case 2:
      return std::ldexp(0.5 + random.fraction(), static_cast<int>(random.integer(-60, 60)));
    default:
      return 5 * (0.001 + random.fraction());
  }
}

double random_sink(Random& random) {
  switch (random.integer(0, 7)) {
    case 0:
      return 0;
    case 1:
      return static_cast<double>(random.integer(-2, 2));
    case 2:
      return -HUGE_VAL;
    case 3:
      return std::ldexp(random.fraction() - 0.5, static_cast<int>(random.integer(-80, 80)));
    case 4:
      return 300 * (random.fraction() - 0.5);
    default:
      return 8 * (random.fraction() - 0.5);
  }
}

}  // namespace

ScoringOptions random_scoring(std::uint64_t seed) {
  Random random(seed ^ 0x73636f72);
  ScoringOptions options;
  if (random.one_in(2)) options.scale = random_scale(random);
  if (random.one_in(2)) options.softcap = random_softcap(random);
  if (random.one_in(2)) {
    Array array(Shape(), Dtype::float64);
    *reinterpret_cast<double*>(array.mutable_data()) = random_sink(random);
    options.sinks = {array, "sinks"};
  }
  return options;
}

Scoring scoring_of(const ScoringOptions& options) {
  Scoring scoring;
  if (options.scale) scoring = {options.scale->factor, options.scale->root, {}, {}};
  scoring.softcap = options.softcap;
  if (options.sinks && options.sinks->array.at(0) != -HUGE_VAL)
    scoring.sink = options.sinks->array.at(0);
  return scoring;
}

}  // namespace sdpa::oracle
