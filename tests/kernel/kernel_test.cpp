#include "kernel/kernel.h"

#include "catch.h"
#include "kernel/run.h"
#include "oracle/naive.h"

#include <limits>

using namespace sdpa;
using kernel::InstructionSet;
using kernel::Kernel;
using oracle::Random;

#ifdef SDPA_WIDE_KERNEL
// kernel.cpp with vectors of 64 bytes, as a processor with AVX-512 has them, in instructions of AVX2.
namespace sdpa::kernel::wide {
extern const Kernel<float> float32;
extern const Kernel<double> float64;
extern const Kernel<double> double_double;
}  // namespace sdpa::kernel::wide
#endif

namespace {

// Around the widths of vectors and tiles, keys of one block, two and three.
constexpr Size kSizes[] = {
    {1, 1, 1, 1},    {2, 1, 7, 8},    {1, 2, 8, 7},     {7, 33, 9, 2},    {8, 9, 31, 33},
    {9, 7, 33, 31},  {31, 300, 2, 9}, {33, 31, 1, 7},   {300, 8, 7, 1},   {2, 300, 33, 300},
    {33, 9, 300, 8}, {300, 33, 8, 9}, {9, 600, 31, 33}, {1, 300, 300, 2},
};

template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
}

template <class Number>
bool same_bits(const Results<Number>& a, const Results<Number>& b) {
  return same_bits(a.o, b.o) && same_bits(a.o_low, b.o_low) && same_bits(a.sums, b.sums) &&
         same_bits(a.squares, b.squares) && same_bits(a.w, b.w) && same_bits(a.w_low, b.w_low);
}

template <class Number>
std::vector<long double> widened(const std::vector<Number>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// The largest error of a weight, relatively, and of an output, relative to the largest value, in
/// an arithmetic that sums at most `chain` numbers before the sum joins others.
///
/// A score is off by at most d_k u times S, the largest sum of |q_i k_ji| over sqrt(d_k).
/// Subtracting the maximum and scaling cost u each of at most 2 S, and as much again where maxima
/// are raised; exp costs 2u, and each of the blocks and spans 3u when maxima are raised. An error e
/// of all weights costs e once in the sum of numerators and once in the weighted sum. Each of these
/// adds chain u, and 20u that holds the chains of a block, the blocks and the division.
template <class Number>
long double tolerance(const KernelProblem<Number>& problem, long double u, Index chain) {
  const Size& n = problem.n;
  long double largest_sum = 0;
  for (Index t = 0; t < n.T_q; ++t)
    for (Index j = 0; j < n.T_k; ++j) {
      long double sum = 0;
      for (Index i = 0; i < n.d_k; ++i)
        sum +=
            std::fabs(static_cast<long double>(problem.q[static_cast<std::size_t>(t * n.d_k + i)]) *
                      problem.k[static_cast<std::size_t>(j * n.d_k + i)]);
      largest_sum = std::max(largest_sum, sum);
    }
  const long double S = largest_sum / std::sqrt(static_cast<long double>(n.d_k));
  const Index blocks = n.T_k / kernel::kKeyBlock + 1;
  const long double weight = static_cast<long double>(n.d_k + 8) * S + 2 + 6 * blocks;
  return 1.01L * u * 2 * (weight + static_cast<long double>(chain) + 20);
}

template <class Number>
void check_against_naive(const Kernel<Number>& kernel, const KernelProblem<Number>& problem,
                         bool bounded, Index span) {
  const Size& n = problem.n;
  const Results<Number> results = run(kernel, problem, bounded, kernel.queries, span);
  const auto q = widened(problem.q), k = widened(problem.k), v = widened(problem.v);
  const long double allowed =
      tolerance(problem, std::numeric_limits<Number>::epsilon() / 2, kernel::kKeyChain) +
      tolerance(problem, std::numeric_limits<long double>::epsilon() / 2, n.T_k);
  long double largest = 0;
  for (long double value : v) largest = std::max(largest, std::fabs(value));

  std::vector<long double> w(static_cast<std::size_t>(n.T_k)), o(static_cast<std::size_t>(n.d_v)),
      o_of_w(o.size());
  for (Index t = 0; t < n.T_q; t += 1 + n.T_q / 40) {  // long double is slow where it is emulated
    naive::attention(q.data() + t * n.d_k, k.data(), v.data(), n.T_k, n.d_k, n.d_v, w.data(),
                     o.data());
    const std::vector<long double> w_t(results.w.begin() + t * n.T_k,
                                       results.w.begin() + (t + 1) * n.T_k);
    naive::weighted_sum(w_t.data(), v.data(), n.T_k, n.d_v, o_of_w.data());

    long double sum = 0, squares = 0, w_error = 0, o_error = 0, o_of_w_error = 0;
    for (std::size_t j = 0; j < w.size(); ++j) {
      sum += w_t[j];
      squares += w_t[j] * w_t[j];
      w_error = std::max(w_error, std::fabs(w_t[j] - w[j]) / w[j]);
    }
    for (std::size_t d = 0; d < o.size(); ++d) {
      const long double o_t = results.o[static_cast<std::size_t>(t * n.d_v) + d];
      o_error = std::max(o_error, std::fabs(o_t - o[d]));
      o_of_w_error = std::max(o_of_w_error, std::fabs(o_t - o_of_w[d]));
    }
    const long double sums = results.sums[static_cast<std::size_t>(t)];
    const long double kernel_squares = results.squares[static_cast<std::size_t>(t)];
    INFO("row " << t);
    CHECK(w_error <= allowed);
    CHECK(o_error <= allowed * largest);
    CHECK(o_of_w_error <= allowed * largest);
    CHECK(std::fabs(sum - 1) <= allowed);
    if (sizeof(Number) == sizeof(float)) continue;  // float32 has no sums of squares
    // A square has twice the error of a weight, and n.T_k of them are added one by one.
    CHECK(std::fabs(kernel_squares / (sums * sums) / squares - 1) <=
          3 * allowed + static_cast<long double>(n.T_k) * std::numeric_limits<Number>::epsilon());
  }
}

/// Calls check(kernel of the instruction set, kernel of `base`, problem, bounded) for each
/// arithmetic and problem. Only small scores may keep their maximum.
template <class Check>
void for_each_problem(const InstructionSet& set, Check check) {
  const InstructionSet& base = kernel::instruction_sets().back();
  Random random(1);
  for (const Size& n : kSizes)
    for (const double deviation : {1.0, 5.0}) {
      INFO(set.name << " T_q " << n.T_q << " T_k " << n.T_k << " d_k " << n.d_k << " d_v " << n.d_v
                    << " deviation " << deviation);
      const auto floats = normal_problem<float>(random, n, deviation);
      const auto doubles = normal_problem<double>(random, n, deviation);
      for (const bool bounded : {false, true}) {
        if (bounded && deviation > 1) continue;
        check(set.float32, base.float32, floats, bounded);
        check(set.float64, base.float64, doubles, bounded);
        check(set.double_double, base.double_double, doubles, bounded);
      }
    }
}

template <class Check>
void for_each_usable_set(Check check) {
  for (const InstructionSet& set : kernel::instruction_sets())
    if (set.supported()) check(set);
}

void check_bits_of_base(const InstructionSet& set) {
  for_each_problem(set,
                   [](const auto& kernel, const auto& base, const auto& problem, bool bounded) {
                     for (const Index span : {kernel::kKeySpan, kernel::kKeyBlock})
                       CHECK(same_bits(run(kernel, problem, bounded, kernel.queries, span),
                                       run(base, problem, bounded, base.queries, span)));
                   });
}

}  // namespace

TEST_CASE("kernel: every instruction set gives the bits of the base one", "[kernel]") {
  for_each_usable_set(check_bits_of_base);
}

#ifdef SDPA_WIDE_KERNEL
TEST_CASE("kernel: vectors of 64 bytes give the bits of the base ones", "[.wide]") {
  check_bits_of_base(
      {"wide", nullptr, kernel::wide::float32, kernel::wide::float64, kernel::wide::double_double});
}
#endif

TEST_CASE("kernel: a query's bits do not depend on the others of its group", "[kernel]") {
  for_each_usable_set([](const InstructionSet& set) {
    for_each_problem(set, [](const auto& kernel, const auto&, const auto& problem, bool bounded) {
      if (problem.n.T_q == 1) return;
      const auto together = run(kernel, problem, bounded, kernel.queries);
      CHECK(same_bits(together, run(kernel, problem, bounded, 1)));
      CHECK(same_bits(together, run(kernel, problem, bounded, 5)));
    });
  });
}

TEST_CASE("kernel: output and weights agree with the textbook", "[kernel]") {
  for_each_problem(kernel::instruction_sets().back(),
                   [](const auto& kernel, const auto&, const auto& problem, bool bounded) {
                     check_against_naive(kernel, problem, bounded, kernel::kKeySpan);
                     check_against_naive(kernel, problem, bounded, kernel::kKeyBlock);
                   });
}
