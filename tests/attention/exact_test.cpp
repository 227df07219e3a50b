#include "catch.h"
#include "oracle/generators.h"
#include "oracle/golden.h"
#include "oracle/matrix.h"
#include "oracle/mpfr.h"
#include "oracle/property.h"
#include "oracle/random.h"
#include "oracle/rounding.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <numeric>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr Dtype kFloats[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64};

std::uint64_t from_environment(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Distance from 1 to the next number.
double epsilon(Dtype dtype) {
  return std::ldexp(1.0, 1 - format_of(dtype).precision);
}

double smallest(Dtype dtype) {
  return std::ldexp(1.0, format_of(dtype).smallest_exponent);
}

Attention exact(const Array& q, const Array& k, const Array& v, Dtype dtype) {
  Settings settings;
  settings.dtype = dtype;
  settings.weights = true;
  return attention(q, k, v, settings);
}

double first_output(const Array& q, const Array& k, const Array& v, Dtype dtype) {
  return exact(q, k, v, dtype).output.at(0);
}

/// Output and weights must be those of the referee, for every output type.
void check_against_referee(const Array& q, const Array& k, const Array& v) {
  for (Dtype dtype : kFloats) {
    INFO(name(dtype));
    const Attention got = exact(q, k, v, dtype), expected = exact_attention(q, k, v, dtype);
    CHECK(same_bytes(got.output, expected.output));
    CHECK(same_bytes(*got.weights, *expected.weights));
  }
}

Array normal_matrix(Random& random, Index rows, Index columns, Dtype dtype) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.normal();
  return matrix(rows, columns, values, dtype);
}

}  // namespace

TEST_CASE("exact: random problems give the referee's output and weights bit for bit", "[exact]") {
  const std::uint64_t seed = from_environment("SDPA_SEED", 1);
  const std::uint64_t count = from_environment("SDPA_COUNT", 2000);
  std::cout << "exact: " << count << " random problems, SDPA_SEED=" << seed << std::endl;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto difference = difference_of(seed + i);
    if (difference) FAIL_CHECK(*difference);
  }
  CHECK(count > 0);
}

TEST_CASE("exact: every golden case comes out bit for bit", "[exact]") {
  const std::vector<GoldenCase> cases = golden_cases();
  REQUIRE(cases.size() > 100);
  for (const GoldenCase& golden : cases) {
    INFO(golden.name);
    const Attention result = exact(golden.q, golden.k, golden.v, golden.dtype);
    CHECK(same_bytes(result.output, golden.output));
    if (golden.weights) CHECK(same_bytes(*result.weights, *golden.weights));
  }
}

TEST_CASE("exact: an average halfway between two numbers goes to the even one", "[exact]") {
  const Array q = matrix({{0}}), two_keys = matrix({{1}, {2}});
  for (Dtype dtype : kFloats) {
    INFO(name(dtype));
    const double e = epsilon(dtype), s = smallest(dtype);
    CHECK(first_output(q, two_keys, matrix({{1}, {1 + e}}), dtype) == 1);
    CHECK(first_output(q, two_keys, matrix({{1 + e}, {1 + 2 * e}}), dtype) == 1 + 2 * e);
    CHECK(first_output(q, two_keys, matrix({{-1}, {-1 - e}}), dtype) == -1);
    CHECK(first_output(q, two_keys, matrix({{0}, {s}}), dtype) == 0);
    CHECK(first_output(q, two_keys, matrix({{s}, {2 * s}}), dtype) == 2 * s);
    CHECK(first_output(q, two_keys, matrix({{-s}, {-2 * s}}), dtype) == -2 * s);
  }
}

TEST_CASE("exact: halfway from the largest number to the next power of two is infinity",
          "[exact]") {
  const Array q = matrix({{0}}), k = matrix({{1}, {2}});
  CHECK(first_output(q, k, matrix({{65504}, {65536}}), Dtype::float16) == HUGE_VAL);
  CHECK(first_output(q, k, matrix({{65504}, {65535.5}}), Dtype::float16) == 65504);
  CHECK(first_output(q, k, matrix({{0x1.fep127}, {0x1p128}}), Dtype::bfloat16) == HUGE_VAL);
  CHECK(first_output(q, k, matrix({{-0x1.fffffep127}, {-0x1p128}}), Dtype::float32) == -HUGE_VAL);
  CHECK(first_output(q, k, matrix({{0x1.fffffffffffffp1023}, {0x1.fffffffffffffp1023}}),
                     Dtype::float64) == 0x1.fffffffffffffp1023);
}

TEST_CASE("exact: scores that differ only below the last bit of float64", "[exact]") {
  // Both keys are masked, and differ by what is left of double-double when the high part is gone.
  const Array k = matrix({{-0x1p66, 1}, {-0x1p66, 0.875}, {-0x1p66, 0}});
  const Array v = matrix({{1, 5}, {2, -3}, {-4, 0.25}});
  for (const double q : {0.25, 8., 1050., 4096., 1e5, -1e5}) {
    INFO(q);
    check_against_referee(matrix({{1, q}}), k, v);
  }
}

TEST_CASE("exact: rows that see different keys of a mask", "[exact]") {
  // One feature a query: key j is hidden from queries before it. Some rows have one key, some all.
  constexpr Index kRows = 24;
  Random random(3);
  const double hidden = GENERATE(-1e5, -1e9, -1e20, -0x1.fffffep127);
  std::vector<double> q, k;
  for (Index t = 0; t < kRows; ++t)
    for (Index i = 0; i < kRows + 3; ++i) {
      q.push_back(i < kRows ? (i == t ? 1 : 0) : random.normal() * 30);
      k.push_back(i < kRows ? (i < t ? hidden : 0) : random.normal());
    }
  check_against_referee(matrix(kRows, kRows + 3, q, Dtype::float32),
                        matrix(kRows, kRows + 3, k, Dtype::float32),
                        normal_matrix(random, kRows, 3, Dtype::float32));
}

TEST_CASE("exact: ties within each group of equal scores are a tie", "[exact]") {
  // Scores 0.7, 0.7, 0.3, 0.3, 0.3, 0.3: each group's average is the same midpoint.
  const Array q = matrix({{1}}), k = matrix({{0.7}, {0.3}, {0.3}, {0.7}, {0.3}, {0.3}});
  for (Dtype dtype : kFloats) {
    INFO(name(dtype));
    const double e = epsilon(dtype);
    CHECK(first_output(q, k, matrix({{1}, {1 + e}, {1}, {1 + e}, {1}, {1 + e}}), dtype) == 1);
    CHECK(first_output(q, k, matrix({{1}, {1 + 2 * e}, {1 - e}, {1 + e}, {1 + e}, {1}}), dtype) ==
          1);
    // One value up by e, and the tie is gone.
    CHECK(first_output(q, k, matrix({{1}, {1 + e}, {1}, {1 + e}, {1 + e}, {1 + e}}), dtype) ==
          1 + e);
  }
}

TEST_CASE("exact: a weight of exp(-x) breaks a tie, however small it is", "[exact]") {
  const double x = GENERATE(36., 700., 800., 1e4, 1e6, 1e30, 1e300);
  const Array q = matrix({{x}}), k = matrix({{1}, {1}, {0}});
  for (Dtype dtype : kFloats) {
    INFO(name(dtype) << ", x = " << x);
    const double e = epsilon(dtype);
    CHECK(first_output(q, k, matrix({{1}, {1 + e}, {2}}), dtype) == 1 + e);
    CHECK(first_output(q, k, matrix({{1}, {1 + e}, {1}}), dtype) == 1);
    CHECK(first_output(q, k, matrix({{1 + e}, {1 + 2 * e}, {2}}), dtype) == 1 + 2 * e);
    CHECK(first_output(q, k, matrix({{1 + e}, {1 + 2 * e}, {1}}), dtype) == 1 + e);
  }
}

TEST_CASE("exact: a tie of thousands of keys is one, and broken by one key more", "[exact]") {
  constexpr Index kPairs = 2050;
  for (Dtype dtype : kFloats) {
    INFO(name(dtype));
    const double e = epsilon(dtype);
    std::vector<double> k(2 * kPairs, 1), v;
    for (Index j = 0; j < kPairs; ++j) v.insert(v.end(), {1 + e, 1 + 2 * e});
    for (const auto& [other, expected] :
         {std::pair{2.0, 1 + 2 * e}, {1.0, 1 + e}, {1 + 1.5 * e, 1 + 2 * e}}) {
      std::vector<double> all_k = k, all_v = v;
      all_k.push_back(0);
      all_v.push_back(other);
      const Index T_k = 2 * kPairs + 1;
      CHECK(first_output(matrix({{1000}}), matrix(T_k, 1, all_k), matrix(T_k, 1, all_v), dtype) ==
            expected);
    }
  }
}

TEST_CASE("exact: a second tie-breaker decides where the first one balances", "[exact]") {
  // Above the tied pair's midpoint and below it by the same amount at score -1e4, then one key more
  // at -1e5.
  const Array q = matrix({{1e4}}), k = matrix({{0}, {0}, {-1}, {-1}, {-10}});
  for (Dtype dtype : kFloats) {
    INFO(name(dtype));
    const double e = epsilon(dtype);
    CHECK(first_output(q, k, matrix({{1}, {1 + e}, {1}, {1 + e}, {2}}), dtype) == 1 + e);
    CHECK(first_output(q, k, matrix({{1 + e}, {1 + 2 * e}, {1 + e}, {1 + 2 * e}, {0}}), dtype) ==
          1 + e);
  }
}

TEST_CASE("exact: values 2^-53 off a midpoint of float32 go to their side", "[exact]") {
  const Array q = matrix({{0}}), k = matrix({{1}, {2}});
  const double e = 0x1p-23, least = 0x1p-52;
  CHECK(first_output(q, k, matrix({{1}, {1 + e + least}}), Dtype::float32) == 1 + e);
  CHECK(first_output(q, k, matrix({{1}, {1 + e - least}}), Dtype::float32) == 1);
  CHECK(first_output(q, k, matrix({{1 + e}, {1 + 2 * e - least}}), Dtype::float32) == 1 + e);
}

TEST_CASE("exact: the last bit of a long sum decides", "[exact]") {
  const Array q = matrix({{0}}), k = matrix({{1}, {1}, {1}, {1}});
  for (Dtype dtype : kFloats) {
    INFO(name(dtype));
    const double e = epsilon(dtype);
    for (double u : {0x1p-60, 0x1p-200, 0x1p-1074}) {
      // The sum 4 + 2e is four times the midpoint 1 + e / 2, and 4 + 6e that after 1 + e.
      CHECK(first_output(q, k, matrix({{4}, {2 * e}, {u}, {0}}), dtype) == 1 + e);
      CHECK(first_output(q, k, matrix({{4}, {2 * e}, {-u}, {0}}), dtype) == 1);
      CHECK(first_output(q, k, matrix({{4}, {6 * e}, {-u}, {0}}), dtype) == 1 + e);
      CHECK(first_output(q, k, matrix({{4}, {6 * e}, {u}, {-u}}), dtype) == 1 + 2 * e);
    }
  }
}

TEST_CASE("exact: weights and outputs 2^-53 to 2^-480 off a midpoint", "[exact]") {
  Random random(7);
  for (Index d_k : {1, 4, 9})
    for (Dtype dtype : kFloats)
      for (int i = 0; i < 20; ++i) {
        INFO(name(dtype) << ", d_k " << d_k << ", number " << i);
        // The first weight is the midpoint 1/2 + (2 i + 1) e / 4 of the type, nearly.
        const double offset = (2 * i + 1) * epsilon(dtype) / 4;
        Big numerator(128), denominator(128);
        mpfr_set_d(numerator, offset, MPFR_RNDN);
        mpfr_add_d(numerator, numerator, 0.5, MPFR_RNDN);
        mpfr_ui_sub(denominator, 1, numerator, MPFR_RNDN);
        const auto [q, k] = two_keys(numerator, denominator, d_k, Dtype::float64);
        const Array v = matrix({{1, 0}, {0, 1}});
        const Attention got = exact(q, k, v, dtype), expected = exact_attention(q, k, v, dtype);
        CHECK(same_bytes(got.output, expected.output));
        CHECK(same_bytes(*got.weights, *expected.weights));
      }
}

TEST_CASE("exact: a value 2^-290 beside the others counts where a midpoint is met to 2^-470",
          "[exact]") {
  const double e = epsilon(Dtype::float32), midpoint = 1 + e / 2;
  for (const double tiny : {0x1p-290, -0x1p-290}) {
    // The second key has the value 1, and two equal ones before it these two.
    const double first = 2 + 8 * e;
    Big numerator(400), denominator(400);
    mpfr_set_d(numerator, midpoint - 1, MPFR_RNDN);
    mpfr_set_d(denominator, first - 2 * midpoint, MPFR_RNDN);
    mpfr_add_d(denominator, denominator, tiny, MPFR_RNDN);
    const auto [q, two] = two_keys(numerator, denominator, 9, Dtype::float64);
    std::vector<double> k = values_of(two);
    const std::vector<double> key(k.begin(), k.begin() + 9);
    k.insert(k.begin(), key.begin(), key.end());
    check_against_referee(q, matrix(3, 9, k), matrix({{first}, {tiny}, {1}}));
  }
}

TEST_CASE("exact: a dot product's huge terms that cancel leave no trace", "[exact]") {
  Random random(8);
  for (double huge : {1e8, 1e17, 1e30, 1e150, 1e200}) {
    INFO("huge = " << huge);
    std::vector<double> plain(15), cancelling(15);
    for (std::size_t j = 0; j < 5; ++j) {
      plain[3 * j + 1] = cancelling[3 * j + 1] = random.normal();
      cancelling[3 * j] = cancelling[3 * j + 2] = huge;
    }
    const Array v = normal_matrix(random, 5, 3, Dtype::float64);
    for (Dtype dtype : kFloats) {
      const Attention got = exact(matrix({{huge, 1, -huge}}), matrix(5, 3, cancelling), v, dtype);
      const Attention expected = exact(matrix({{0, 1, 0}}), matrix(5, 3, plain), v, dtype);
      CHECK(same_bytes(got.output, expected.output));
      CHECK(same_bytes(*got.weights, *expected.weights));
    }
  }
}

TEST_CASE("exact: values that cancel in the average leave the rest", "[exact]") {
  const Array q = matrix({{0}}), k = matrix({{1}, {2}, {3}});
  for (double huge : {1e8, 0x1p100, 1e308})
    CHECK(first_output(q, k, matrix({{huge}, {1}, {-huge}}), Dtype::float64) == 1.0 / 3);
  CHECK(first_output(q, k, matrix({{1e308}, {1.5e308}, {1.7e308}}), Dtype::float64) == 1.4e308);
}

TEST_CASE("exact: scores far beyond float64 choose the largest", "[exact]") {
  const Array v = matrix({{3}, {5}});
  const double next_below = std::nextafter(1e300, 0);
  CHECK(first_output(matrix({{1e200}}), matrix({{-1e200}, {1e200}}), v, Dtype::float64) == 5);
  CHECK(first_output(matrix({{1e300}}), matrix({{1e300}, {next_below}}), v, Dtype::float64) == 3);
  CHECK(first_output(matrix({{1e300}}), matrix({{1e300}, {1e300}}), v, Dtype::float64) == 4);
  CHECK(first_output(matrix({{-1e300, -1e300}}), matrix({{1e300, 1e300}, {1e300, 1e300}}), v,
                     Dtype::float64) == 4);
  CHECK(first_output(matrix({{1e-300}}), matrix({{1e-300}, {-1e-300}}), v, Dtype::float64) == 4);
}

TEST_CASE("exact: a weight below float64's range still counts against huge values", "[exact]") {
  for (double x : {100., 700., 745., 800., 1400., 1430., 1450.}) {
    INFO("x = " << x);
    check_against_referee(matrix({{x}}), matrix({{1}, {0}}), matrix({{0, 1}, {1e300, 1e38}}));
  }
}

TEST_CASE("exact: subnormal inputs and results", "[exact]") {
  const double s = 0x1p-1074;
  check_against_referee(matrix({{s, 1e300}}), matrix({{1e308, s}, {-1e308, s}, {s, 1e-300}}),
                        matrix({{5 * s, s}, {s, 0}, {3 * s, -s}}));
}

TEST_CASE("exact: one key gives its value, whatever the scores", "[exact]") {
  for (Dtype dtype : kFloats) {
    const Array v = matrix({{1 + epsilon(dtype), -smallest(dtype), 0}}, dtype);
    const Attention result = exact(matrix({{1e300}, {0}}), matrix({{1e300}}), v, dtype);
    CHECK(values_of(result.output.rows(0, 1)) == values_of(v));
    CHECK(values_of(result.output.rows(1, 1)) == values_of(v));
    CHECK(values_of(*result.weights) == std::vector<double>{1, 1});
  }
}

TEST_CASE("exact: d_k = 1, 257, 4096 and T_k = 1, 2, 50", "[exact]") {
  Random random(9);
  for (Index d_k : {1, 257, 4096})
    for (Index T_k : {1, 2, 50}) {
      INFO("d_k " << d_k << ", T_k " << T_k);
      check_against_referee(normal_matrix(random, 2, d_k, Dtype::float64),
                            normal_matrix(random, T_k, d_k, Dtype::float64),
                            normal_matrix(random, T_k, 3, Dtype::float64));
    }
}

TEST_CASE("exact: 30,000 keys of different scores", "[exact]") {
  Random random(10);
  const Array q = matrix({{2.5}});
  const Array k = normal_matrix(random, 30000, 1, Dtype::float32);
  const Array v = normal_matrix(random, 30000, 2, Dtype::float32);
  for (Dtype dtype : {Dtype::float32, Dtype::float64}) {
    const Attention got = exact(q, k, v, dtype), expected = exact_attention(q, k, v, dtype);
    CHECK(same_bytes(got.output, expected.output));
    CHECK(same_bytes(*got.weights, *expected.weights));
  }
}

TEST_CASE("exact: 100,000 keys of one score share the weight", "[exact]") {
  std::vector<double> ones(100000, 1), ascending(100000);
  std::iota(ascending.begin(), ascending.end(), 0.0);
  const Array v = matrix(100000, 1, ascending);
  const Attention result = exact(matrix({{3}}), matrix(100000, 1, ones), v, Dtype::float64);
  CHECK(result.output.at(0) == 49999.5);
  CHECK(result.weights->at(0) == 1e-5);
  CHECK(result.weights->at(99999) == 1e-5);
}
