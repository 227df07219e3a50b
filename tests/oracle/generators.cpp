#include "oracle/generators.h"

#include "oracle/matrix.h"
#include "oracle/random.h"
#include "oracle/rounding.h"

#include <algorithm>
#include <cmath>

namespace sdpa::oracle {

namespace {

const std::vector<Dtype> kInputs = {Dtype::float16, Dtype::bfloat16, Dtype::float32,
                                    Dtype::float64};

/// Those of 8 bits hold few of the values that are drawn, but any of them can be a result.
const std::vector<Dtype> kResults = {Dtype::float16, Dtype::bfloat16,      Dtype::float32,
                                     Dtype::float64, Dtype::float8_e4m3fn, Dtype::float8_e5m2};

/// What is drawn before any value.
struct Plan {
  Index T_q, T_k, d_k, d_v;
  Dtype q, k, v, result;
};

Plan random_plan(Random& random) {
  Plan plan{random.integer(1, 9), random.integer(1, 9), random.integer(1, 9),
            random.integer(1, 9), random.pick(kInputs), random.pick(kInputs),
            random.pick(kInputs), random.pick(kResults)};
  if (random.one_in(2)) plan.k = plan.v = plan.q;
  return plan;
}

double number(Ordinal ordinal, Dtype dtype) {
  return mpfr_get_d(value_of(ordinal, format_of(dtype)), MPFR_RNDN);
}

Ordinal ordinal_of_one(Dtype dtype) {
  Big one(2);
  mpfr_set_ui(one, 1, MPFR_RNDN);
  return round_to(one, format_of(dtype));
}

/// A number of either sign within a factor of about 2^binades of one, as far as the type reaches.
double number_near_one(Random& random, Dtype dtype, int binades) {
  const Ordinal one = ordinal_of_one(dtype);
  const Ordinal reach =
      std::min<Ordinal>(one, static_cast<Ordinal>(binades) << (format_of(dtype).precision - 1));
  const Ordinal ordinal = random.integer(one - reach, one + reach);
  return number(random.one_in(2) ? ordinal : -ordinal, dtype);
}

double subnormal(Random& random, Dtype dtype) {
  const Ordinal limit = Ordinal{1} << (format_of(dtype).precision - 1);
  return number(random.integer(-limit, limit), dtype);
}

template <class Value>
Array filled(Index rows, Index columns, Dtype dtype, Value value) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  std::generate(values.begin(), values.end(), value);
  return matrix(rows, columns, values, dtype);
}

/// q, k and v from one function of a type that draws a number of that type.
template <class Value>
Problem filled_problem(const char* name, const Plan& plan, Value value) {
  return {name, filled(plan.T_q, plan.d_k, plan.q, [&] { return value(plan.q); }),
          filled(plan.T_k, plan.d_k, plan.k, [&] { return value(plan.k); }),
          filled(plan.T_k, plan.d_v, plan.v, [&] { return value(plan.v); }), plan.result};
}

Problem normal(Random& random, const Plan& plan) {
  return filled_problem("normal", plan, [&](Dtype) { return random.normal(); });
}

Problem wide(Random& random, const Plan& plan) {
  const int binades = random.pick<int>({2, 8, 40, 1100});
  return filled_problem("wide", plan,
                        [&](Dtype dtype) { return number_near_one(random, dtype, binades); });
}

/// Scores far apart. Some features are masks: queries hold 1 or 0 there, and keys 0 or a number that
/// stands for minus infinity. Columns of v may hold one value only.
Problem masked(Random& random, const Plan& plan) {
  const double largest = number(format_of(plan.k).infinity - 1, plan.k);
  const double hidden = -std::min(random.pick<double>({100, 1e4, 1e9, 1e20, HUGE_VAL}), largest);
  const Index masks = random.integer(0, plan.d_k);
  const double wide = random.pick<double>({1, 100, 1000});
  Index i = 0;
  const auto is_mask = [&] { return i++ % plan.d_k < masks; };
  const bool one_value = random.one_in(3);
  const double value = random.pick<double>({1, 1 + 0x1p-11, 1 + 0x1p-24, 65519});
  return {"masked",
          filled(plan.T_q, plan.d_k, plan.q,
                 [&] {
                   if (is_mask()) return random.one_in(3) ? 0.0 : 1.0;
                   return random.normal() * wide;
                 }),
          filled(plan.T_k, plan.d_k, plan.k,
                 [&] {
                   if (is_mask()) return random.one_in(2) ? 0.0 : hidden;
                   return random.normal();
                 }),
          filled(plan.T_k, plan.d_v, plan.v,
                 [&] { return one_value && !random.one_in(12) ? value : random.normal(); }),
          plan.result};
}

Problem few_values(Random& random, const Plan& plan) {
  // Neighbours in the result type: their average is a midpoint.
  const Ordinal one = ordinal_of_one(plan.result);
  const Ordinal most = format_of(plan.result).infinity - 1 - one;
  const double number_a = number(one + std::min(random.integer(0, 100), most), plan.result);
  const double next = number(one + std::min(random.integer(0, 100), most), plan.result);
  const std::vector<double> all = {0, 1, -1, 0.5, 3, number_a, next, -number_a, 65504, 1e-5};
  std::vector<double> some;
  for (Index count = random.integer(1, 3); count > 0; --count) some.push_back(random.pick(all));
  return filled_problem("few values", plan, [&](Dtype) { return random.pick(some); });
}

Problem integers(Random& random, const Plan& plan) {
  const std::int64_t largest = random.pick<std::int64_t>({1, 5, 100, 60000});
  return filled_problem("integers", plan, [&](Dtype) {
    return static_cast<double>(random.integer(-largest, largest));
  });
}

/// Subnormal inputs; k may be huge, so that the scores need not be.
Problem subnormal_inputs(Random& random, const Plan& plan) {
  const bool result_type_values = plan.v == Dtype::float64 && random.one_in(2);
  return {"subnormals",
          filled(plan.T_q, plan.d_k, plan.q, [&] { return subnormal(random, plan.q); }),
          filled(plan.T_k, plan.d_k, plan.k,
                 [&] {
                   if (random.one_in(3)) return subnormal(random, plan.k);
                   const Ordinal largest = format_of(plan.k).infinity - 1;
                   return number(largest - random.integer(0, 100), plan.k);
                 }),
          filled(plan.T_k, plan.d_v, plan.v,
                 [&] {
                   if (result_type_values)
                     return subnormal(random, plan.result) * random.fraction();
                   return subnormal(random, plan.v);
                 }),
          plan.result};
}

/// Scores so far below the largest that weights are subnormal numbers of the result type, or less;
/// they may meet huge values.
Problem subnormal_weights(Random& random, const Plan& plan) {
  const double spread = -std::log(2.0) * format_of(plan.result).smallest_exponent;
  const double limit = std::min(spread, 1000.0) * std::sqrt(static_cast<double>(plan.d_k));
  Index i = 0;
  const auto only_first = [&](double value) { return i++ % plan.d_k == 0 ? value : 0.0; };
  const bool huge_values = random.one_in(2);
  return {"subnormals", filled(plan.T_q, plan.d_k, plan.q, [&] { return only_first(limit * 0.5); }),
          filled(plan.T_k, plan.d_k, plan.k,
                 [&] { return only_first(random.one_in(2) ? 0 : 2.1 - random.fraction() / 4); }),
          filled(plan.T_k, plan.d_v, plan.v,
                 [&] {
                   const Ordinal largest = format_of(plan.v).infinity - 1;
                   if (huge_values) return number(largest - random.integer(0, 9), plan.v);
                   return random.normal();
                 }),
          plan.result};
}

/// Keys of a few kinds, the keys of a kind equal. In each column the values of a kind are
/// neighbours a, b in the result type as often one as the other, so that their average is the
/// midpoint, except that one kind may have other values: whether a query sees a tie, or how far
/// from one it is, then depends on how that kind's score compares.
Problem tied_values(Random& random, const Plan& plan) {
  const Index kinds = random.integer(1, 3), pairs = random.integer(1, 2);
  const Index T_k = 2 * kinds * pairs;
  const double magnitude = random.pick<double>({1, 30, 300, 4000, 30000});
  std::vector<double> k_values, v_values(static_cast<std::size_t>(T_k * plan.d_v));
  for (Index kind = 0; kind < kinds; ++kind) {
    std::vector<double> key;
    for (Index i = 0; i < plan.d_k; ++i) key.push_back(magnitude * random.normal() / 4);
    for (Index j = 0; j < 2 * pairs; ++j) k_values.insert(k_values.end(), key.begin(), key.end());
  }
  // Types narrower than the result hold its neighbours as one number; then there is no tie to see.
  const Dtype v_type = random.one_in(2) ? plan.result : Dtype::float64;
  const Index odd_kind = random.integer(0, kinds);
  for (Index d = 0; d < plan.d_v; ++d) {
    const Format format = format_of(plan.result);
    const Ordinal below = random.one_in(4) ? random.integer(0, 20)
                          : random.one_in(8)
                              ? format.infinity - 2
                              : ordinal_of_one(plan.result) + random.integer(-2000, 2000);
    const Ordinal first = std::clamp<Ordinal>(below, 0, format.infinity - 2);
    const double a = number(first, plan.result);
    const double b = number(first + 1, plan.result);
    for (Index j = 0; j < T_k; ++j) {
      double& value = v_values[static_cast<std::size_t>(j * plan.d_v + d)];
      value = j % 2 == 0 ? a : b;
      if (j / (2 * pairs) == odd_kind) value = random.pick<double>({a, b, 0, a / 2 + b / 2});
    }
  }
  return {"near midpoints", filled(plan.T_q, plan.d_k, plan.q, [&] { return random.normal(); }),
          matrix(T_k, plan.d_k, k_values, plan.k), matrix(T_k, plan.d_v, v_values, v_type),
          plan.result};
}

/// Two keys whose first weight, or whose first output, nearly is a midpoint of the result type.
Problem solved_midpoint(Random& random, const Plan& plan) {
  const Format format = format_of(plan.result);
  const Dtype input = random.one_in(3) ? Dtype::float32 : Dtype::float64;
  const Index d_k = random.pick<Index>({1, 4, 9});
  const Ordinal one = ordinal_of_one(plan.result);
  const Big middle =
      midpoint_after(random.integer(one - (Ordinal{4} << (format.precision - 1)), one - 1), format);

  // The first output is u + (1 - u) w for values 1 and u, and the first weight w itself for u = 0.
  // It is the midpoint m when the weights stand as m - u to 1 - m.
  const double u = random.one_in(2) ? 0 : -random.fraction();
  Big numerator(128), denominator(128);
  mpfr_sub_d(numerator, middle, u, MPFR_RNDN);
  mpfr_ui_sub(denominator, 1, middle, MPFR_RNDN);
  auto [q, k] = two_keys(numerator, denominator, d_k, input);
  std::vector<double> v_values = {1, u};
  return {"near midpoints", std::move(q), std::move(k), matrix(2, 1, v_values, Dtype::float64),
          plan.result};
}

}  // namespace

Problem random_problem(std::uint64_t seed) {
  Random random(seed);
  const Plan plan = random_plan(random);
  switch (seed % 6) {
    case 0:
      return normal(random, plan);
    case 1:
      return random.one_in(2) ? wide(random, plan) : masked(random, plan);
    case 2:
      return few_values(random, plan);
    case 3:
      return integers(random, plan);
    case 4:
      return random.one_in(2) ? subnormal_inputs(random, plan) : subnormal_weights(random, plan);
    default:
      return random.one_in(2) ? tied_values(random, plan) : solved_midpoint(random, plan);
  }
}

TwoKeys two_keys(const Big& numerator, const Big& denominator, Index d_k, Dtype dtype) {
  // More bits than d_k numbers hold. With q[i] = sqrt(d_k) and the scale 1 / sqrt(d_k) the score is
  // the plain sum of the first key's numbers: the logarithm cut into pieces.
  Big rest(static_cast<mpfr_prec_t>(64 * d_k + 128));
  mpfr_div(rest, numerator, denominator, MPFR_RNDN);
  mpfr_log(rest, rest, MPFR_RNDN);
  std::vector<double> pieces;
  for (Index i = 0; i < d_k; ++i) {
    const Format format = format_of(dtype);
    pieces.push_back(number(round_to(rest, format), dtype));
    mpfr_sub_d(rest, rest, pieces.back(), MPFR_RNDN);
  }
  pieces.resize(static_cast<std::size_t>(2 * d_k), 0);
  const std::vector<double> roots(static_cast<std::size_t>(d_k),
                                  std::sqrt(static_cast<double>(d_k)));
  return {matrix(1, d_k, roots, dtype), matrix(2, d_k, pieces, dtype)};
}

}  // namespace sdpa::oracle
