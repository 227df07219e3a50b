#pragma once

// Third stage: values weighted with the numerators.

#include "kernel/chain.h"
#include "kernel/group.h"

namespace sdpa::kernel::SDPA_ISA {

/// o[d][y] += sum_j p[j][y] * v[j][d] over a block.
template <class Real, int V>
void weighted_sum(Group<Real>& group, Index x, const NumberOf<Real>* v, Index keys) {
  constexpr int kColumns = kAcross<Real, V>;
  const Index d_v = group.question.d_v, one = unknown_one();
  for (Index j = 0; j < keys; j += kKeyChain) {
    const Index steps = smaller(kKeyChain, keys - j);
    const Real* p = group.s + j * V;
    const NumberOf<Real>* v_j = v + j * d_v;
    Index d = 0;
    for (; d + kColumns <= d_v; d += kColumns) {
      // Their share of the next chain's keys.
      prefetch(v_j + kKeyChain * (d_v + d), kColumns * kKeyChain);
      Real sums[kColumns][V];
      sum_chain(p, v_j + d, one, d_v, steps, sums);
      join_chain(sums, j == 0, group.o_block + d * V);
    }
    for (; d < d_v; ++d) {
      Real sums[1][V];
      sum_chain(p, v_j + d, one, d_v, steps, sums);
      join_chain(sums, j == 0, group.o_block + d * V);
    }
  }
  auto* o = group.o + x * d_v;
  for (Index d = 0; d < d_v * V; ++d) o[d] = add_to_total(o[d], group.o_block[d]);
}

}  // namespace sdpa::kernel::SDPA_ISA
