#include "attention/scoring.h"

#include "attention/heads.h"
#include "catch.h"
#include "io/array_file.h"
#include "oracle/matrix.h"
#include "oracle/property.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

Attention scored(const Array& q, const Array& k, const Array& v, const ScoringOptions& scoring,
                 Settings settings = {}) {
  settings.weights = true;
  Heads heads(q, k, v, settings, {}, {}, {}, scoring);
  return heads.rows(0, heads.row_count());
}

ScoringOptions scale(double factor) {
  return {ScoreScale{factor, 1}, {}, {}};
}
ScoringOptions softcap(double cap) {
  return {{}, cap, {}};
}
ScoringOptions sink(double value) {
  return {{}, {}, NamedArray{matrix(1, 1, {value}, Dtype::float64).part(0, Shape()), "sinks"}};
}

}  // namespace

TEST_CASE("scoring: random scales, caps and sinks give the referee's bytes", "[scoring]") {
  const std::uint64_t seed = from_environment("SDPA_SEED", 1);
  const std::uint64_t count = from_environment("SDPA_COUNT", 2000);
  std::cout << "scoring: " << count << " random problems, SDPA_SEED=" << seed << std::endl;
  for (std::uint64_t i = 0; i < count; ++i)
    if (const auto difference = scored_difference_of(seed + i)) FAIL_CHECK(*difference);
  CHECK(count > 0);
}

TEST_CASE("scoring: ties that only a key or a sink far below breaks", "[scoring]") {
  // The average of 1 and 1 + 2^-23 is a midpoint of float32: a third key of the weight exp(-5000) and
  // the value 2 or -2 decides, or a sink, whose value is 0.
  const Array q = matrix(1, 1, {1}, Dtype::float64), two = matrix(2, 1, {0, 0}, Dtype::float64),
              three = matrix(3, 1, {0, 0, -5000}, Dtype::float64);
  const Settings settings{.dtype = Dtype::float32};
  const double one = 1, next = 1 + 0x1p-23, even = 1 + 0x1p-22;
  for (const auto& [third, right] : {std::pair(2.0, next), {-2.0, one}}) {
    const Array v = matrix(3, 1, {one, next, third}, Dtype::float64);
    CHECK(scored(q, three, v, scale(1), settings).output.at(0) == right);
    CHECK(scored(q, three, v, softcap(1e6), settings).output.at(0) == right);
  }
  const Array v = matrix(2, 1, {next, even}, Dtype::float64);
  CHECK(scored(q, two, v, {}, settings).output.at(0) == even);
  CHECK(scored(q, two, v, sink(-HUGE_VAL), settings).output.at(0) == even);
  CHECK(scored(q, two, v, sink(-5000), settings).output.at(0) == next);
}

TEST_CASE("scoring: sinks that are not finite, and scores beside them", "[scoring]") {
  const Array q = matrix(1, 1, {1}, Dtype::float32), k = matrix(2, 1, {1, 2}, Dtype::float32),
              v = matrix(2, 1, {1, 2}, Dtype::float32);
  for (const Precision precision : {Precision::exact, Precision::float64, Precision::float32}) {
    const Settings settings{.precision = precision};
    for (double bad : {HUGE_VAL, std::nan("")})
      CHECK(std::isnan(scored(q, k, v, sink(bad), settings).output.at(0)));
    CHECK(scored(q, k, v, sink(1e300), settings).output.at(0) == 0);
    CHECK(same_bytes(scored(q, k, v, sink(-HUGE_VAL), settings).output,
                     scored(q, k, v, {}, settings).output));
    // All keys at -inf: weights are 0 beside a sink, and there are none without.
    const Array none = matrix(2, 1, {-HUGE_VAL, -HUGE_VAL}, Dtype::float32);
    CHECK(std::isnan(scored(q, none, v, {}, settings).output.at(0)));
    CHECK(scored(q, none, v, sink(0), settings).output.at(0) == 0);
    // A cap makes finite scores of infinite ones.
    const Array wide = matrix(2, 1, {HUGE_VAL, HUGE_VAL}, Dtype::float32);
    CHECK(std::isnan(scored(q, wide, v, {}, settings).output.at(0)));
    CHECK(scored(q, wide, v, softcap(2), settings).output.at(0) == 1.5);
    // 0 times infinity.
    CHECK(std::isnan(scored(q, wide, v, scale(0), settings).output.at(0)));
  }
}

TEST_CASE("scoring: a capped score next to a sink that is the cap is undecided, not endless",
          "[scoring]") {
  const Array q = matrix(1, 1, {1}, Dtype::float64), k = matrix(1, 1, {1e30}, Dtype::float64),
              v = matrix(1, 1, {1}, Dtype::float64);
  ScoringOptions scoring = sink(1);
  scoring.softcap = 1;
  // 0.5, and half the difference of the scores, about exp(-2e30), less: for float64 nothing but real
  // numbers could tell, and they do not.
  CHECK_THROWS_WITH(scored(q, k, v, scoring, {.dtype = Dtype::float64}),
                    Catch::Contains("undecided"));
}

TEST_CASE("scoring: the exact cases with a scale come out bit for bit", "[scoring]") {
  for (const auto& [name, factor] :
       {std::pair("scale_0.1", 0.1), {"scale_1", 1.0}, {"scale_negative", -0.5}}) {
    INFO(name);
    const std::string folder = std::string(SDPA_SOURCE_DIR) + "/data/scales/" + name + "/";
    const auto file = [&](const std::string& what) { return read_array(folder + what + ".npy"); };
    for (const Dtype dtype : {Dtype::float32, Dtype::float64}) {
      const std::string suffix(sdpa::name(dtype));
      const Attention result =
          scored(file("q"), file("k"), file("v"), scale(factor), {.dtype = dtype});
      CHECK(std::ranges::equal(result.output.bytes(), file("expected_" + suffix).bytes()));
      CHECK(
          std::ranges::equal(result.weights->bytes(), file("expected_weights_" + suffix).bytes()));
    }
  }
}
