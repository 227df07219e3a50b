#include "report/kernel_bound.h"

#include "catch.h"
#include "report/arrays.h"

#include <cmath>
#include <cstdio>
#include <functional>

using namespace sdpa;
using kernels::OneHead;
using kernels::Order;

namespace {

constexpr int kRuns = 1000;

double to_bfloat16(double value) {
  return rounded(value, Dtype::bfloat16);
}

double to_float16(double value) {
  return rounded(value, Dtype::float16);
}

/// A kind of honest kernel; `run` counts the problems and may choose a variant.
struct Kind {
  const char* name;
  Dtype inputs;
  Arithmetic arithmetic;
  std::function<std::vector<double>(const OneHead&, int run)> kernel;
};

template <class Real>
std::vector<double> any_textbook(const OneHead& p, int run, double (*store)(double)) {
  return kernels::textbook<Real>(p, kernels::kOrders[run % std::size(kernels::kOrders)], store);
}

template <class Real>
std::vector<double> any_flash(const OneHead& p, int run, double (*store)(double)) {
  constexpr int kBlocks[] = {1, 16, 64};
  return kernels::flash<Real>(p, kBlocks[run % std::size(kBlocks)], store);
}

/// Runs a kind on many problems and demands that each value is within its bound. Prints the factor
/// between the bound and the largest error, and returns it.
double factor(const Kind& kind, int runs, const std::function<OneHead(Generator&)>& problem) {
  constexpr unsigned kSeed = 20240607;
  Generator generator(kSeed);
  INFO(kind.name << ", seed " << kSeed);
  double largest = 0;
  for (int run = 0; run < runs; ++run) {
    const OneHead p = problem(generator);
    const Judgement judgement = judge(p, kind.kernel(p, run), kind.inputs, kind.arithmetic);
    INFO("run " << run << ", " << judgement.worst_multiple << " times the bound");
    REQUIRE(judgement.outside == 0);
    REQUIRE(judgement.unbounded == 0);
    largest = std::max(largest, judgement.worst_multiple);
  }
  std::printf("%-52s bound / largest error in %d runs: %.1f\n", kind.name, runs, 1 / largest);
  return 1 / largest;
}

const Kind kKinds[] = {
    {"float32, textbook",
     Dtype::float32,
     {Dtype::float32, Dtype::float32, Dtype::float32},
     [](const OneHead& p, int run) { return any_textbook<float>(p, run, kernels::as_it_is); }},
    {"float32, flash",
     Dtype::float32,
     {Dtype::float32, Dtype::float32, Dtype::float32},
     [](const OneHead& p, int run) { return any_flash<float>(p, run, kernels::as_it_is); }},
    {"bfloat16 in and out, weights too, flash",
     Dtype::bfloat16,
     {Dtype::float32, Dtype::bfloat16, Dtype::bfloat16},
     [](const OneHead& p, int run) { return any_flash<float>(p, run, to_bfloat16); }},
    {"bfloat16 in, weights too, textbook",
     Dtype::bfloat16,
     {Dtype::float32, Dtype::bfloat16, Dtype::float32},
     [](const OneHead& p, int run) { return any_textbook<float>(p, run, to_bfloat16); }},
    {"float16 in and out, weights too, flash",
     Dtype::float16,
     {Dtype::float32, Dtype::float16, Dtype::float16},
     [](const OneHead& p, int run) { return any_flash<float>(p, run, to_float16); }},
    {"float64, textbook",
     Dtype::float64,
     {Dtype::float64, Dtype::float64, Dtype::float64},
     [](const OneHead& p, int run) { return any_textbook<double>(p, run, kernels::as_it_is); }},
    {"float16 throughout, textbook",
     Dtype::float16,
     {Dtype::float16, Dtype::float16, Dtype::float16},
     [](const OneHead& p, int run) {
       return any_textbook<kernels::Float16>(p, run, kernels::as_it_is);
     }},
};

const Kind& kFloat32 = kKinds[0];
const Kind& kFloat32Flash = kKinds[1];
const Kind& kBfloat16Weights = kKinds[3];

OneHead one_row(Generator& generator, Dtype dtype) {
  return random_problem(generator, 1, dtype);
}

}  // namespace

TEST_CASE("bound: no honest run of any kind is outside, and the bound is within 30 errors") {
  for (const Kind& kind : kKinds)
    CHECK(factor(kind, kRuns,
                 [&](Generator& generator) { return one_row(generator, kind.inputs); }) <= 30);
}

TEST_CASE("bound: honest kernels are within it on peaked rows") {
  for (const Kind& kind : kKinds)
    factor(kind, 100, [&](Generator& generator) {
      OneHead p = one_row(generator, kind.inputs);
      for (double& q_i : p.q) q_i *= 8;
      return p;
    });
}

TEST_CASE("bound: honest kernels are within it when keys and values repeat, as padding does") {
  for (const Kind& kind : kKinds)
    factor(kind, 100, [&](Generator& generator) {
      OneHead p = one_row(generator, kind.inputs);
      for (int j = 3; j < p.T_k; ++j)
        for (int i = 0; i < p.d_k; ++i) {
          p.k[j * p.d_k + i] = p.k[j % 3 * p.d_k + i];
          p.v[j * p.d_v + i] = p.v[j % 3 * p.d_v + i];
        }
      return p;
    });
}

TEST_CASE("bound: honest kernels are within it on equal weights of equal values") {
  for (const Kind& kind : kKinds)
    factor(kind, 100, [&](Generator& generator) {
      OneHead p = one_row(generator, kind.inputs);
      std::fill(p.q.begin(), p.q.end(), 0.0);
      for (int j = 0; j < p.T_k; ++j) p.v[j * p.d_v] = rounded(0.7, kind.inputs);
      return p;
    });
}

TEST_CASE("bound: sums that lose every small term are within it") {
  // One weight is nearly 1, and each of the others below half an ulp of the sum: together they are
  // half a percent, of which the sequential sum keeps nothing.
  const auto problem = [](Generator&) {
    OneHead p{1, 100001, 1, 1, {16.8}, std::vector<double>(100001, 0), {}};
    p.k[0] = 1;
    p.v = std::vector<double>(100001, 1);
    p.v[0] = 0;
    for (auto* operand : {&p.q, &p.k, &p.v})
      for (double& value : *operand) value = rounded(value, Dtype::float32);
    return p;
  };
  Kind forward = kFloat32;
  forward.kernel = [](const OneHead& p, int) {
    return kernels::textbook<float>(p, Order::forward, kernels::as_it_is);
  };
  factor(forward, 1, problem);
  factor(kFloat32Flash, 1, problem);
}

TEST_CASE("bound: it grows with the size of q, as the errors of scores do") {
  Generator generator(3);
  OneHead p = one_row(generator, Dtype::float32);
  std::fill(p.k.begin(), p.k.end(), 1.0);  // equal scores: the weights stay what they are
  const std::vector<double> small = allowed_of(p, Dtype::float32, kFloat32.arithmetic);
  for (double& q_i : p.q) q_i *= 1024;
  const std::vector<double> large = allowed_of(p, Dtype::float32, kFloat32.arithmetic);
  for (std::size_t d = 0; d < small.size(); ++d) CHECK(large[d] > 20 * small[d]);
}

TEST_CASE("bound: lower types allow more") {
  Generator generator(4);
  const OneHead p = one_row(generator, Dtype::bfloat16);
  const auto allowed = [&](Dtype accumulate, Dtype weights, Dtype output) {
    return allowed_of(p, Dtype::bfloat16, {accumulate, weights, output})[0];
  };
  const double all_float32 = allowed(Dtype::float32, Dtype::float32, Dtype::float32);
  CHECK(allowed(Dtype::float64, Dtype::float64, Dtype::float32) < all_float32);
  CHECK(allowed(Dtype::float32, Dtype::bfloat16, Dtype::float32) > 100 * all_float32);
  CHECK(allowed(Dtype::float16, Dtype::float16, Dtype::float32) > 100 * all_float32);
  CHECK(allowed(Dtype::float32, Dtype::float32, Dtype::bfloat16) > 10 * all_float32);
  CHECK(allowed(Dtype::float32, Dtype::float64, Dtype::float32) == all_float32);
}

TEST_CASE("bound: with one key nothing is left but the value and its roundings") {
  const OneHead p{1, 1, 1, 1, {3}, {5}, {7}};
  const double allowed = allowed_of(p, Dtype::float32, kFloat32.arithmetic)[0];
  CHECK(allowed >= 0.5 * ulp(7, Dtype::float32));
  CHECK(allowed <= 20 * ulp(7, Dtype::float32));
}

TEST_CASE(
    "bound: it does not depend on threads, and little on how many rows are asked for at once") {
  Generator generator(5);
  const OneHead p = random_problem(generator, 200, Dtype::float32);
  const std::vector<double> o = right_values(p);
  const KernelBound one = bound_of(p, Dtype::float32, kFloat32.arithmetic, 1),
                    three = bound_of(p, Dtype::float32, kFloat32.arithmetic, 3);
  CHECK(allowed_of(one, o) == allowed_of(three, o));
  std::vector<double> parts;
  for (int first = 0; first < 200; first += 40) {
    const auto* o_t = o.data() + first * p.d_v;
    const auto part = allowed_of(one, {o_t, o_t + 40 * p.d_v}, first);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  CHECK(parts == allowed_of(one, o));
}

TEST_CASE("bound: rows between those that are looked at have the bound of a close look") {
  Generator generator(7);
  for (Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
    const Arithmetic arithmetic{Dtype::float32, dtype, Dtype::float32};
    const OneHead p = random_problem(generator, 200, dtype);
    const std::vector<double> allowed = allowed_of(p, dtype, arithmetic);
    for (int t = 0; t < p.T_q; t += 3) {
      OneHead row = p;
      row.T_q = 1;
      row.q.assign(p.q.begin() + t * p.d_k, p.q.begin() + (t + 1) * p.d_k);
      const std::vector<double> close = allowed_of(row, dtype, arithmetic);
      for (int d = 0; d < p.d_v; ++d) {
        CHECK(allowed[t * p.d_v + d] >= 0.6 * close[d]);
        CHECK(allowed[t * p.d_v + d] <= 10 * close[d]);
      }
    }
  }
}

TEST_CASE("bound: a key of score -inf does not count, an infinite or NaN score makes no number") {
  OneHead p{2, 3, 1, 1, {1, 1}, {1, 0.5, -HUGE_VAL}, {2, 4, 100}};
  const auto look = [](const OneHead& problem) {
    return bound_of(problem, Dtype::float32, kFloat32.arithmetic).close_look().rows;
  };
  const CloseRow without = look({1, 2, 1, 1, {1}, {1, 0.5}, {2, 4}})[0], with = look(p)[0];
  CHECK(with.output[0] == without.output[0]);
  CHECK(with.allowed[0] < 3 * without.allowed[0]);

  p.q = {1, -1};
  CHECK(std::isfinite(look(p)[0].output[0]));
  CHECK(std::isnan(look(p)[1].output[0]));
}

TEST_CASE("bound: where float64 has no room for it there is no statement") {
  const OneHead p{1, 2, 1, 1, {1e200}, {1e-200, 2e-200}, {1e200, -1e200}};
  CHECK(allowed_of(p, Dtype::float64, {Dtype::float64, Dtype::float64, Dtype::float64})[0] ==
        HUGE_VAL);
}

TEST_CASE("bound: accumulation too coarse for the number of keys allows anything") {
  Generator generator(6);
  OneHead p{1,
            4096,
            1,
            1,
            {0},
            normal(generator, 4096, 1, Dtype::bfloat16),
            normal(generator, 4096, 1, Dtype::bfloat16)};
  CHECK(allowed_of(p, Dtype::bfloat16, {Dtype::bfloat16, Dtype::bfloat16, Dtype::bfloat16})[0] ==
        HUGE_VAL);
}

TEST_CASE("bound: near-equal weights share the rounding of a low type") {
  // 1/130 in bfloat16 is off by the same 0.16 % for every key, and so is the output.
  Kind kind = kBfloat16Weights;
  kind.kernel = [](const OneHead& p, int) {
    return kernels::textbook<float>(p, Order::forward, to_bfloat16);
  };
  factor(kind, 20, [](Generator& generator) {
    OneHead p = random_problem(generator, 1, Dtype::bfloat16);
    for (double& q_i : p.q) q_i *= 0x1p-12;
    for (double& v_jd : p.v) v_jd = 1 + 0x1p-7 * (v_jd > 0);
    return p;
  });
}
