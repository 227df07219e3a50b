#pragma once

// One problem through one kernel, for the tests of this folder.

#include "kernel/kernel.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numbers>
#include <vector>

namespace sdpa {

using kernel::Index;

struct Size {
  Index T_q, T_k, d_k, d_v;
};

template <class Number>
struct KernelProblem {
  Size n;
  std::vector<Number> q, k, v;
  double scale_high, scale_low;  ///< as in Question
};

template <class Number>
std::vector<Number> normal_numbers(oracle::Random& random, Index count, double deviation) {
  std::vector<Number> numbers(static_cast<std::size_t>(count));
  for (Number& number : numbers) number = static_cast<Number>(deviation * random.normal());
  return numbers;
}

/// Scores have about the given deviation; from 3 on, a later block often has the larger maximum.
template <class Number>
KernelProblem<Number> normal_problem(oracle::Random& random, const Size& n, double deviation) {
  const long double scale =
      std::numbers::log2e_v<long double> / std::sqrt(static_cast<long double>(n.d_k));
  const auto high = static_cast<double>(scale);
  return {n,
          normal_numbers<Number>(random, n.T_q * n.d_k, deviation),
          normal_numbers<Number>(random, n.T_k * n.d_k, 1),
          normal_numbers<Number>(random, n.T_k * n.d_v, 1),
          high,
          static_cast<double>(scale - high)};
}

/// What the kernel writes; low parts stay zero where the arithmetic has none.
template <class Number>
struct Results {
  std::vector<Number> o, o_low, sums, sums_low, squares, largest, w, w_low;

  explicit Results(const Size& n)
      : o(static_cast<std::size_t>(n.T_q * n.d_v)),
        o_low(o.size()),
        sums(static_cast<std::size_t>(n.T_q)),
        sums_low(sums.size()),
        squares(sums.size()),
        largest(sums.size()),
        w(static_cast<std::size_t>(n.T_q * n.T_k)),
        w_low(w.size()) {}
};

/// A power of two for each query that is at least twice the sum of the absolute values of its
/// products with any key.
template <class Number>
std::vector<double> dot_powers(const KernelProblem<Number>& problem) {
  const Size& n = problem.n;
  std::vector<double> powers(static_cast<std::size_t>(n.T_q));
  for (Index t = 0; t < n.T_q; ++t) {
    double largest = 0x1p-1000;
    for (Index j = 0; j < n.T_k; ++j) {
      double sum = 0;
      for (Index i = 0; i < n.d_k; ++i)
        sum += std::fabs(static_cast<double>(problem.q[static_cast<std::size_t>(t * n.d_k + i)]) *
                         static_cast<double>(problem.k[static_cast<std::size_t>(j * n.d_k + i)]));
      largest = std::max(largest, sum);
    }
    powers[static_cast<std::size_t>(t)] = std::exp2(std::ceil(std::log2(largest)) + 2);
  }
  return powers;
}

/// Runs the kernel in groups of at most `group` queries, merged from spans of at most `span` keys.
template <class Number>
Results<Number> run(const kernel::Kernel<Number>& kernel, const KernelProblem<Number>& problem,
                    bool bounded, Index group, Index span = kernel::kKeySpan) {
  const Size& n = problem.n;
  Results<Number> results(n);
  const auto alignment = static_cast<Index>(kernel::kAlignment);
  const Index bytes =
      (kernel.workspace_bytes(group, n.d_k, n.d_v) + alignment - 1) / alignment * alignment;
  const auto allocate = [&] {
    void* memory = std::aligned_alloc(kernel::kAlignment, static_cast<std::size_t>(bytes));
    if (memory == nullptr) throw std::bad_alloc();
    return std::unique_ptr<void, decltype(&std::free)>(memory, std::free);
  };
  const auto workspace = allocate(), next = allocate();
  const std::vector<double> powers = dot_powers(problem);

  for (Index t = 0; t < n.T_q; t += group) {
    const kernel::Question question{
        std::min(group, n.T_q - t), n.d_k, n.d_v, problem.scale_high, problem.scale_low, bounded,
        powers.data() + t};
    for (Index first = 0; first < n.T_k; first += span) {
      void* absorbing = first == 0 ? workspace.get() : next.get();
      kernel.begin(absorbing, question, problem.q.data() + t * n.d_k);
      const Index last = std::min(first + span, n.T_k);
      for (Index j = first; j < last; j += kernel::kKeyBlock)
        kernel.absorb(absorbing, problem.k.data() + j * n.d_k, problem.v.data() + j * n.d_v,
                      std::min(kernel::kKeyBlock, last - j));
      if (first != 0) kernel.merge(workspace.get(), absorbing);
    }
    kernel.finish(workspace.get(), results.o.data() + t * n.d_v, results.o_low.data() + t * n.d_v,
                  {results.sums.data() + t, results.sums_low.data() + t, results.squares.data() + t,
                   results.largest.data() + t});
    for (Index j = 0; j < n.T_k; j += kernel::kKeyBlock)
      kernel.weights(workspace.get(), problem.k.data() + j * n.d_k,
                     std::min(kernel::kKeyBlock, n.T_k - j), results.w.data() + t * n.T_k + j,
                     results.w_low.data() + t * n.T_k + j, n.T_k);
  }
  return results;
}

}  // namespace sdpa
