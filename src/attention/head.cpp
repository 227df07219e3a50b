#include "attention/head.h"

#include "kernel/kernel.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

/// A sum of at most 2^22 squares is rounded by less than 2^-30 of itself (Higham, "Accuracy and
/// Stability of Numerical Algorithms", 2nd ed., section 3.1: (1 + 2^-53)^n), and so is its root.
/// Squares that underflow lose at most 2^-1074 each.
constexpr double kAbove = 1 + 0x1p-30;
constexpr double kUnderflow = 0x1p-1040;

double root_bound(double sum_of_squares) {
  return std::sqrt(sum_of_squares + kUnderflow) * kAbove;
}

using Squares = std::vector<double>;

/// Sums of squares of a row x [d_k]: along each chain up to every feature, and up to the end of
/// each chain.
void add_up_squares(const double* x, Index d_k, Squares& along_chains, Squares& up_to_chains) {
  double before = 0;
  for (Index first = 0; first < d_k; first += kernel::kFeatureChain) {
    double sum = 0;
    for (Index i = first; i < std::min(first + kernel::kFeatureChain, d_k); ++i) {
      sum += x[i] * x[i];
      along_chains[static_cast<std::size_t>(i)] = sum;
    }
    before += sum;
    up_to_chains[static_cast<std::size_t>(first / kernel::kFeatureChain)] = before;
  }
}

void raise_to(Squares& largest, const Squares& x) {
  for (std::size_t i = 0; i < x.size(); ++i) largest[i] = std::max(largest[i], x[i]);
}

Index chains_of(Index d_k) {
  return (d_k + kernel::kFeatureChain - 1) / kernel::kFeatureChain;
}

void measure_keys(Head& head) {
  const Index d_k = head.n.d_k;
  std::vector<double> row(static_cast<std::size_t>(d_k));
  Squares along_chains(row.size()), up_to_chains(static_cast<std::size_t>(chains_of(d_k)));
  head.k_chain_norms.assign(along_chains.size(), 0);
  head.k_prefix_norms.assign(up_to_chains.size(), 0);
  for (Index j = 0; j < head.n.T_k; ++j) {
    read_elements(head.k, j * d_k, d_k, row.data());
    add_up_squares(row.data(), d_k, along_chains, up_to_chains);
    raise_to(head.k_chain_norms, along_chains);
    raise_to(head.k_prefix_norms, up_to_chains);
  }
  for (double& norm : head.k_chain_norms) norm = root_bound(norm);
  for (double& norm : head.k_prefix_norms) norm = root_bound(norm);
  head.k_norm = head.k_prefix_norms.back();
}

void measure_values(Head& head) {
  const Index d_v = head.n.d_v;
  std::vector<double> row(static_cast<std::size_t>(d_v));
  head.v_largest.assign(row.size(), 0);
  head.v_norm.assign(row.size(), 0);
  for (Index j = 0; j < head.n.T_k; ++j) {
    read_elements(head.v, j * d_v, d_v, row.data());
    for (std::size_t d = 0; d < row.size(); ++d) {
      head.v_largest[d] = std::max(head.v_largest[d], std::fabs(row[d]));
      head.v_norm[d] += row[d] * row[d];
    }
  }
  for (double& norm : head.v_norm) norm = root_bound(norm);
}

}  // namespace

QueryFacts query_facts(const Head& head, const double* q_t) {
  Squares along_chains(head.k_chain_norms.size()), up_to_chains(head.k_prefix_norms.size());
  add_up_squares(q_t, head.n.d_k, along_chains, up_to_chains);
  // By Cauchy and Schwarz a partial sum is at most the product of the norms of what it is made of.
  double partial_sums = 0;
  for (std::size_t i = 0; i < along_chains.size(); ++i)
    partial_sums += root_bound(along_chains[i]) * head.k_chain_norms[i];
  for (std::size_t chain = 1; chain < up_to_chains.size(); ++chain)
    partial_sums += root_bound(up_to_chains[chain]) * head.k_prefix_norms[chain];
  return {root_bound(up_to_chains.back()), partial_sums * kAbove};
}

Head make_head(const Array& q, const Array& k, const Array& v) {
  Head head{q, k, v, check_shapes(q, k, v), 0, 0, 0, {}, {}, {}, {}};

  // One Newton step: 1/sqrt(d) = y + y (1 - d y^2) / 2 + O(y e^2), where the residual 1 - d y^2 is
  // had to 2^-105 by splitting y^2 exactly and e is below 2^-51.
  const auto d = static_cast<double>(head.n.d_k);
  const double y = 1 / std::sqrt(d);
  const double square = y * y;
  const double square_low = std::fma(y, y, -square);
  const double residual = std::fma(-d, square, 1.0) - d * square_low;
  head.scale_high = y;
  head.scale_low = y * residual / 2;

  measure_keys(head);
  measure_values(head);
  return head;
}

}  // namespace sdpa
