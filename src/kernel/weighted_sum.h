#pragma once

// Third stage: values weighted with the numerators.

#include "kernel/chain.h"
#include "kernel/group.h"

namespace sdpa::kernel::SDPA_ISA {

/// o[d][y] += sum_j p[j][y] * v[j][d] over a block.
template <class Real, int V>
void weighted_sum(Group<Real>& group, Index x, const NumberOf<Real>* v, Index keys) {
  constexpr int kColumns = kAcross<Real, V>;
  const Index d_v = group.question.d_v, one = hidden(Index{1});
  for (Index j = 0; j < keys; j += kKeyChain) {
    const Index steps = smaller(kKeyChain, keys - j);
    const Real* p = group.s + j * V;
    const NumberOf<Real>* v_j = v + j * d_v;
    auto sum_columns = [&]<int X>(Index d) {
      Real sums[X][V];
      // Their share of the next chain's keys.
      const NumberOf<Real>* next = v_j + kKeyChain * (d_v + d);
      sum_chain<kKeyChain>(p, v_j + d, one, d_v, steps, next, sums);
      join_chain(sums, j == 0, group.o_block + d * V);
    };
    Index d = 0;
    for (; d + kColumns <= d_v; d += kColumns) sum_columns.template operator()<kColumns>(d);
    for (; d < d_v; ++d) sum_columns.template operator()<1>(d);
  }
  auto* o = group.o + x * d_v;
  for (Index d = 0; d < d_v * V; ++d) o[d] = add(o[d], group.o_block[d]);
}

}  // namespace sdpa::kernel::SDPA_ISA
