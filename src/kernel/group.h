#pragma once

// The memory of a group of queries: where its arrays lie, and how it begins.

#include "kernel/arithmetic.h"

#include <cstdint>
#include <type_traits>

namespace sdpa::kernel::SDPA_ISA {

/// Lies at the start of the workspace; the arrays follow.
template <class Real>
struct Group {
  using Vector = VectorOf<Real>;

  Question question;
  Index vectors;      // of queries
  bool empty;         // no keys absorbed yet
  bool merged;        // with another span
  FactorOf<Real>* q;  // tile by tile [d_k][V]
  Real* o;            // tile by tile [d_v][V], sums over the keys so far
  Real* o_block;      // [d_v][V], the tile at hand
  Real* o_lost;       // as o: what rounding lost when spans were merged
  Real* s;            // [kKeyBlock][V], the tile at hand: scores, then numerators of the weights
  Vector* largest;    // [vectors], the scores' maximum so far, or 0 where they are bounded
  Real* sum;          // [vectors], of the numerators
  Real* sum_lost;     // [vectors], as o_lost
  Vector* squares;    // [vectors], sum of the numerators' squares
  Real* lowered;      // [vectors], what numerators are multiplied with where a sink is above them
};

/// Vectors that hold so many queries.
template <class Real>
constexpr Index vectors_of(Index queries) {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  return (queries + kWidth - 1) / kWidth;
}

/// Places the arrays from address `next` on and returns the end.
template <class Real>
std::uintptr_t place_arrays(Group<Real>& group, Index vectors, Index d_k, Index d_v,
                            std::uintptr_t next) {
  auto place = [&next](auto*& array, Index count) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    const auto size = static_cast<std::size_t>(count) * sizeof *array;
    next += (size + kAlignment - 1) / kAlignment * kAlignment;
  };
  place(group.q, d_k * vectors);
  place(group.o, d_v * vectors);
  place(group.o_block, d_v * Arithmetic<Real>::kVectors);
  place(group.o_lost, d_v * vectors);
  place(group.s, kKeyBlock * Arithmetic<Real>::kVectors);
  place(group.largest, vectors);
  place(group.sum, vectors);
  place(group.sum_lost, vectors);
  place(group.squares, vectors);
  place(group.lowered, vectors);
  return next;
}

constexpr std::uintptr_t kHeaderBytes = 256;

template <class Real>
Index workspace_bytes(Index queries, Index d_k, Index d_v) {
  Group<Real> group;
  return static_cast<Index>(place_arrays(group, vectors_of<Real>(queries), d_k, d_v, kHeaderBytes));
}

template <class Real>
void begin(void* workspace, const Question& question, const NumberOf<Real>* q) {
  static_assert(sizeof(Group<Real>) <= kHeaderBytes);
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  auto& group = *static_cast<Group<Real>*>(workspace);
  group.question = question;
  group.empty = true;
  group.merged = false;
  group.vectors = vectors_of<Real>(question.queries);
  place_arrays(group, group.vectors, question.d_k, question.d_v,
               reinterpret_cast<std::uintptr_t>(workspace) + kHeaderBytes);

  for (Index x = 0; x < group.vectors; x += Arithmetic<Real>::kVectors) {
    const Index V = smaller(Arithmetic<Real>::kVectors, group.vectors - x);
    FactorOf<Real>* tile = group.q + x * question.d_k;
    const Index last = smaller((x + V) * kWidth, question.queries);
    if (last < (x + V) * kWidth)
      for (Index i = 0; i < question.d_k * V; ++i) tile[i] = FactorOf<Real>{};
    for (Index t = x * kWidth; t < last; ++t)
      for (Index i = 0; i < question.d_k; ++i)
        set_lane(tile[i * V + t / kWidth - x], t % kWidth, q[t * question.d_k + i], question, t);
  }
  for (Index i = 0; i < group.vectors * question.d_v; ++i) group.o[i] = Real{};
  for (Index x = 0; x < group.vectors; ++x) {
    group.largest[x] = VectorOf<Real>{};
    group.sum[x] = Real{};
    group.squares[x] = VectorOf<Real>{};
  }
}

/// Calls stage.template operator()<V>(x) for each tile, x being its first vector.
template <class Real, class Stage>
void for_each_tile(const Group<Real>& group, Stage stage) {
  for (Index x = 0; x < group.vectors; x += Arithmetic<Real>::kVectors) {
    const Index V = smaller(Arithmetic<Real>::kVectors, group.vectors - x);
    if constexpr (Arithmetic<Real>::kVectors == 3) {
      if (V == 3) stage.template operator()<3>(x);
      if (V == 2) stage.template operator()<2>(x);
    }
    if (V == 1) stage.template operator()<1>(x);
  }
}

}  // namespace sdpa::kernel::SDPA_ISA
