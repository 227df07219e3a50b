#pragma once

// Third stage: values weighted with the numerators.

#include "kernel/group.h"

namespace sdpa::kernel::SDPA_ISA {

/// o_block[d][y] += sum_j p[j][y] * v[j][d] for one chain of keys and the C columns d = 0, step, 2
/// step ...
template <class Real, int C, int V>
inline void sum_columns(const Real* p, const NumberOf<Real>* v, Index keys, Index d_v, Index step,
                        bool first_chain, Real* o_block) {
  Real chain[C][V] = {};
  for (Index j = 0; j < keys; ++j) {
#pragma GCC unroll 12
    for (int x = 0; x < C; ++x) {
      const auto v_jd = broadcast(v[j * d_v + x * step]);
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) chain[x][y] = multiply_add(p[j * V + y], v_jd, chain[x][y]);
    }
  }
#pragma GCC unroll 12
  for (int x = 0; x < C; ++x)
#pragma GCC unroll 3
    for (int y = 0; y < V; ++y) {
      Real& o = o_block[x * step * V + y];
      const Real sum = normalise(chain[x][y]);
      o = first_chain ? sum : add(o, sum);
    }
}

/// o[d][y] += sum_j p[j][y] * v[j][d] over a block.
///
/// Columns that are summed together lie d_v / kColumns apart: of neighbours, compilers make one
/// load and shuffles, which are slower than a broadcast from memory each.
template <class Real, int V>
void weighted_sum(Group<Real>& group, Index x, const NumberOf<Real>* v, Index keys) {
  constexpr int kColumns = Arithmetic<Real>::kSums / V;
  const Index d_v = group.question.d_v;
  const Index step = d_v / kColumns;
  for (Index j = 0; j < keys; j += kKeyChain) {
    const Index chain_keys = smaller(kKeyChain, keys - j);
    const Real* p = group.s + j * V;
    const NumberOf<Real>* v_j = v + j * d_v;
    for (Index d = 0; d < step; ++d)
      sum_columns<Real, kColumns, V>(p, v_j + d, chain_keys, d_v, step, j == 0,
                                     group.o_block + d * V);
    for (Index d = step * kColumns; d < d_v; ++d)
      sum_columns<Real, 1, V>(p, v_j + d, chain_keys, d_v, 0, j == 0, group.o_block + d * V);
  }
  auto* o = group.o + x * d_v;
  for (Index d = 0; d < d_v * V; ++d) o[d] = add_to_total(o[d], group.o_block[d]);
}

}  // namespace sdpa::kernel::SDPA_ISA
