// Spans that are merged and finished, against MPFR: weights, outputs and sums.

#include "catch.h"
#include "kernel/run.h"
#include "oracle/big.h"

using namespace sdpa;
using oracle::Big;

namespace {

constexpr mpfr_prec_t kPrecision = 400;

Big big(double high, double low = 0) {
  Big result(kPrecision);
  mpfr_set_d(result, high, MPFR_RNDN);
  mpfr_add_d(result, result, low, MPFR_RNDN);
  return result;
}

/// |approximation / exact - 1|
double relative_error(const Big& approximation, const Big& exact) {
  Big error(kPrecision);
  mpfr_sub(error, approximation, exact, MPFR_RNDN);
  mpfr_div(error, error, exact, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error, MPFR_RNDA));
}

/// What the kernel should give for query t, all values being positive.
struct Right {
  std::vector<Big> numerators, outputs;
  Big sum = big(0), squares = big(0);

  template <class Number>
  Right(const KernelProblem<Number>& problem, Index t, bool bounded) {
    const Size& n = problem.n;
    const auto at = [](const std::vector<Number>& numbers, Index i) {
      return static_cast<double>(numbers[static_cast<std::size_t>(i)]);
    };
    std::vector<Big> scores;
    for (Index j = 0; j < n.T_k; ++j) {
      Big score = big(0), product(kPrecision);
      for (Index i = 0; i < n.d_k; ++i) {
        mpfr_mul_d(product, big(at(problem.q, t * n.d_k + i)), at(problem.k, j * n.d_k + i),
                   MPFR_RNDN);
        mpfr_add(score, score, product, MPFR_RNDN);
      }
      scores.push_back(score);
    }
    Big largest = bounded ? big(0) : scores[0];
    if (!bounded)
      for (const Big& score : scores) mpfr_max(largest, largest, score, MPFR_RNDN);
    for (Big& score : scores) {
      mpfr_sub(score, score, largest, MPFR_RNDN);
      mpfr_mul(score, score, big(problem.scale_high, problem.scale_low), MPFR_RNDN);
      mpfr_exp2(score, score, MPFR_RNDN);
      mpfr_add(sum, sum, score, MPFR_RNDN);
      mpfr_fma(squares, score, score, squares, MPFR_RNDN);
    }
    numerators = std::move(scores);
    for (Index d = 0; d < n.d_v; ++d) {
      Big output = big(0);
      for (Index j = 0; j < n.T_k; ++j)
        mpfr_fma(output, numerators[static_cast<std::size_t>(j)], big(at(problem.v, j * n.d_v + d)),
                 output, MPFR_RNDN);
      mpfr_div(output, output, sum, MPFR_RNDN);
      outputs.push_back(output);
    }
  }
};

/// All that `finish` and `weights` write must be right but for so many units of 2^-bits.
template <class Number>
void check_merged(const kernel::Kernel<Number>& kernel, const KernelProblem<Number>& problem,
                  bool bounded, Index span, double units, int bits) {
  const Size& n = problem.n;
  const Results<Number> got = run(kernel, problem, bounded, kernel.queries, span);
  const auto part = [](const std::vector<Number>& numbers, Index i) {
    return static_cast<double>(numbers[static_cast<std::size_t>(i)]);
  };
  const double allowed = units * std::exp2(-bits);
  // Sums and squares come without low parts, and relative to a maximum that is rounded to its high
  // part; squares are added one by one.
  const double allowed_sums = units * (sizeof(Number) == sizeof(float) ? 0x1p-24 : 0x1p-53);
  const double allowed_squares = 2 * allowed_sums + static_cast<double>(n.T_k) * 0x1p-53;
  for (Index t = 0; t < n.T_q; ++t) {
    INFO("query " << t);
    const Right right(problem, t, bounded);
    CHECK(relative_error(big(part(got.sums, t)), right.sum) <= allowed_sums);
    if (sizeof(Number) == sizeof(double))  // float32 has none
      CHECK(relative_error(big(part(got.squares, t)), right.squares) <= allowed_squares);
    for (Index d = 0; d < n.d_v; ++d) {
      const Index at = t * n.d_v + d;
      CHECK(relative_error(big(part(got.o, at), part(got.o_low, at)),
                           right.outputs[static_cast<std::size_t>(d)]) <= allowed);
    }
    for (Index j = 0; j < n.T_k; ++j) {
      Big weight(kPrecision);
      mpfr_div(weight, right.numerators[static_cast<std::size_t>(j)], right.sum, MPFR_RNDN);
      const Index at = t * n.T_k + j;
      CHECK(relative_error(big(part(got.w, at), part(got.w_low, at)), weight) <= allowed);
    }
  }
}

/// Calls check(kernel, bits of a number of the arithmetic) for all arithmetics that run here.
template <class Check>
void for_each_arithmetic(Check check) {
  for (const kernel::InstructionSet& set : kernel::instruction_sets()) {
    if (!set.supported()) continue;
    INFO(set.name);
    check(set.float32, 24);
    check(set.float64, 53);
    check(set.double_double, 106);
  }
}

}  // namespace

TEST_CASE("merge: what hundreds of spans lose by rounding one way is not lost", "[merge]") {
  for_each_arithmetic([]<class Number>(const kernel::Kernel<Number>& kernel, int bits) {
    // A key a span, so that all is exact but the merging. In the first query the numerators are 1,
    // then 2^-bits again and again, each of which rounds to nothing beside the total. A last key
    // raises the maximum by 40, or is like the others. In the second query all numerators are 1;
    // there it is the second column's values that round to nothing.
    constexpr std::size_t kKeys = 400;
    for (const int last : {-bits, 40}) {
      INFO(bits << " bits, last score " << last);
      KernelProblem<Number> problem{{2, kKeys, 1, 2}, {1, 0}, {}, {}, 1, 0};
      problem.k.assign(kKeys, static_cast<Number>(-bits));
      problem.k.front() = 0;
      problem.k.back() = static_cast<Number>(last);
      problem.v.assign(2 * kKeys, 1);
      problem.v[1] = static_cast<Number>(std::exp2(bits));
      problem.v[2 * kKeys - 2] = static_cast<Number>(0x1p-40);
      for (const bool bounded : {false, true}) check_merged(kernel, problem, bounded, 1, 4, bits);
    }
  });
}

TEST_CASE("merge: three spans, of which the last raises the maximum of some queries by 40",
          "[merge]") {
  for_each_arithmetic([]<class Number>(const kernel::Kernel<Number>& kernel, int bits) {
    INFO(bits << " bits");
    oracle::Random random(1);
    const Size n{5, 2 * kernel::kKeyBlock + 88, 3, 4};
    auto problem = normal_problem<Number>(random, n, 1);
    for (Number& value : problem.v) value = std::fabs(value);
    // Scores of the last key: 40, 0, -40, and whatever comes.
    const Number first_queries[] = {1, 0, 0, 0, 0, 0, -1, 0, 0};
    std::ranges::copy(first_queries, problem.q.begin());
    problem.k[static_cast<std::size_t>(3 * n.T_k - 3)] = Number(69.3);
    check_merged(kernel, problem, false, kernel::kKeyBlock, 1000, bits);
  });
}
