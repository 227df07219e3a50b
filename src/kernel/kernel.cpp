// The loops of attention, for groups of queries. Compiled once per instruction set.
//
// The lanes of a vector are queries. A group of queries is cut into tiles of up to kVectors
// vectors, and keys come in blocks:
//
//              d_k features                 keys of a block                  d_v features
//            +--------------+             +----------------+               +--------------+
//   q, one   | i: vectors   |   scores    | j: vectors     |  weighted     | d: vectors   |
//   tile     |    of queries|  ------->   |    of queries  |  ------->     |    of queries|  output
//            +--------------+     k_j     +----------------+     v_j       +--------------+
//
// scores        keeps kKeys x V sums in registers; for a feature i it loads V vectors of q and
// broadcasts
//               one number of each of kKeys rows of k, as they lie.
// softmax       turns the block's scores into numerators exp(s - max), lane by lane; if a maximum
// grew, what was summed before is
//               scaled down (online softmax: Milakov and Gimelshein 2018).
// weighted_sum  keeps kColumns x V sums in registers; for a key j it loads V vectors of numerators
// and
//               broadcasts kColumns numbers of v_j.
//
// A sum is a hierarchy of short chains, so its error does not grow with its length: kFeatureChain
// features or kKeyChain keys in a register, chains into a block, blocks into a compensated total.
// All of it is fixed by shape, and a lane is the textbook's loop, so bits do not depend on the
// instruction set.
//
// Real is the arithmetic: FloatLanes, DoubleLanes or DoubleDouble; Vector is the lanes it is made
// of.

#include "kernel/kernel.h"

#include "kernel/double_double.h"
#include "kernel/exp.h"
#include "kernel/lanes.h"

#include <type_traits>

namespace sdpa::kernel::SDPA_ISA {

namespace {

/// A sum of blocks with what rounding lost of it.
template <class Vector>
struct Compensated {
  Vector sum, lost;
};

template <class Real>
struct Arithmetic;

template <class N>
struct PlainArithmetic {
  using Number = N;
  using Vector = typename Lanes<N>::Vector;
  using Total = Compensated<Vector>;
  static constexpr int kVectors =
      3;  // 4 keys x 3 vectors of sums leave registers for 3 vectors of q and a key
  static constexpr int kSums = 12;
  static constexpr Index kTiles =
      4;  // per group: a block of k and v in the L2 cache serves them all
};
template <>
struct Arithmetic<FloatLanes> : PlainArithmetic<float> {};
template <>
struct Arithmetic<DoubleLanes> : PlainArithmetic<double> {};
template <>
struct Arithmetic<DoubleDouble> {
  using Number = double;
  using Vector = DoubleLanes;
  using Total = DoubleDouble;
  static constexpr int kVectors = 1;  // two registers a sum, and few rows come this far
  static constexpr int kSums = 4;
  static constexpr Index kTiles = 4;
};

template <class Real>
using VectorOf = typename Arithmetic<Real>::Vector;
template <class Real>
using NumberOf = typename Arithmetic<Real>::Number;

// ---- what the stages need of an arithmetic ----

template <class Vector>
inline Vector high(Vector x) {
  return x;
}
inline DoubleLanes high(DoubleDouble x) {
  return x.hi;
}

template <class Vector>
inline Vector normalise(Vector x) {
  return x;
}
inline DoubleDouble normalise(DoubleDouble x) {
  return two_sum(x.hi, x.lo);
}

template <class Vector>
inline Vector add(Vector a, Vector b) {
  return a + b;
}
template <class Vector>
inline Vector multiply(Vector a, Vector b) {
  return a * b;
}

template <class Vector>
inline Vector subtract(Vector a, Vector b) {
  return a - b;
}
inline DoubleDouble subtract(DoubleDouble a, DoubleLanes b) {
  return kernel::SDPA_ISA::add(a, -b);
}

/// sum + a * b.  For DoubleDouble the sum is left unnormalised: high parts in one chain, their
/// errors in another (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26
/// (2005), algorithm Dot2).
template <class Vector>
inline Vector multiply_add(Vector a, Vector b, Vector sum) {
  return fma(a, b, sum);
}
inline DoubleDouble multiply_add(DoubleLanes a, DoubleLanes b, DoubleDouble sum) {
  const DoubleDouble product = two_product(a, b);
  const DoubleDouble next = two_sum(sum.hi, product.hi);
  return {next.hi, sum.lo + (next.lo + product.lo)};
}
inline DoubleDouble multiply_add(DoubleDouble a, DoubleLanes b, DoubleDouble sum) {
  const DoubleDouble product = two_product(a.hi, b);
  const DoubleDouble next = two_sum(sum.hi, product.hi);
  return {next.hi, sum.lo + (next.lo + fma(a.lo, b, product.lo))};
}

/// total + x.
template <class Vector>
inline Compensated<Vector> add_to_total(Compensated<Vector> total, Vector x) {
  const Vector sum = total.sum + x;
  const Vector x_part = sum - total.sum;
  return {sum, total.lost + ((total.sum - (sum - x_part)) + (x - x_part))};
}
inline DoubleDouble add_to_total(DoubleDouble total, DoubleDouble x) {
  return add(total, x);
}

template <class Vector>
inline Compensated<Vector> multiply(Compensated<Vector> total, Vector factor) {
  return {total.sum * factor, total.lost * factor};
}

template <class Vector>
inline Vector value_of(Compensated<Vector> total) {
  return total.sum + total.lost;
}
inline DoubleDouble value_of(DoubleDouble total) {
  return total;
}

template <class Vector>
inline Vector divide(Vector a, Vector b) {
  return a / b;
}

template <class Real>
inline Real from_high(VectorOf<Real> x) {
  return x;
}
template <>
inline DoubleDouble from_high<DoubleDouble>(DoubleLanes x) {
  return {x, DoubleLanes{}};
}

template <class Real>
inline Real scale_of(const Question& question) {
  return broadcast(static_cast<NumberOf<Real>>(question.scale_high));
}
template <>
inline DoubleDouble scale_of<DoubleDouble>(const Question& question) {
  return {broadcast(question.scale_high), broadcast(question.scale_low)};
}

inline Index smaller(Index a, Index b) {
  return a < b ? a : b;
}

// ---- a group ----

/// Lies at the start of the workspace; the arrays follow.
template <class Real>
struct Group {
  using Vector = VectorOf<Real>;
  using Total = typename Arithmetic<Real>::Total;

  Question question;
  Index vectors;    // of queries
  bool empty;       // no keys absorbed yet
  Vector* q;        // tile by tile [d_k][V]
  Total* o;         // tile by tile [d_v][V]
  Real* o_block;    // [d_v][V], the tile at hand
  Real* s;          // [kKeyBlock][V], the tile at hand: scores, then numerators of the weights
  Vector* largest;  // [vectors], the scores' maximum so far, or 0 where they are bounded
  Total* sum;       // [vectors], of the numerators
  Vector* squares;  // [vectors], sum of the numerators' squares
};

template <class Real>
constexpr Index kGroupVectors = Arithmetic<Real>::kVectors* Arithmetic<Real>::kTiles;

/// Places the arrays from address `next` on and returns the end.
template <class Real>
std::uintptr_t place_arrays(Group<Real>& group, Index d_k, Index d_v, std::uintptr_t next) {
  auto place = [&next](auto*& array, Index count) {
    array = reinterpret_cast<std::remove_reference_t<decltype(array)>>(next);
    const auto size = static_cast<std::size_t>(count) * sizeof *array;
    next += (size + kAlignment - 1) / kAlignment * kAlignment;
  };
  constexpr Index kVectors = kGroupVectors<Real>;
  place(group.q, d_k * kVectors);
  place(group.o, d_v * kVectors);
  place(group.o_block, d_v * Arithmetic<Real>::kVectors);
  place(group.s, kKeyBlock * Arithmetic<Real>::kVectors);
  place(group.largest, kVectors);
  place(group.sum, kVectors);
  place(group.squares, kVectors);
  return next;
}

constexpr std::uintptr_t kHeaderBytes = 256;

template <class Real>
Index workspace_bytes(Index d_k, Index d_v) {
  Group<Real> group;
  return static_cast<Index>(place_arrays(group, d_k, d_v, kHeaderBytes));
}

template <class Real>
void begin(void* workspace, const Question& question, const NumberOf<Real>* q) {
  static_assert(sizeof(Group<Real>) <= kHeaderBytes);
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  auto& group = *static_cast<Group<Real>*>(workspace);
  place_arrays(group, question.d_k, question.d_v,
               reinterpret_cast<std::uintptr_t>(workspace) + kHeaderBytes);
  group.question = question;
  group.empty = true;
  group.vectors = (question.queries + kWidth - 1) / kWidth;

  for (Index x = 0; x < group.vectors; x += Arithmetic<Real>::kVectors) {
    const Index V = smaller(Arithmetic<Real>::kVectors, group.vectors - x);
    for (Index i = 0; i < question.d_k; ++i)
      for (Index y = 0; y < V; ++y) {
        VectorOf<Real> lanes{};
        for (Index lane = 0; lane < kWidth; ++lane) {
          const Index t = (x + y) * kWidth + lane;
          if (t < question.queries) lanes[lane] = q[t * question.d_k + i];
        }
        group.q[x * question.d_k + i * V + y] = lanes;
      }
  }
  for (Index i = 0; i < group.vectors * question.d_v; ++i)
    group.o[i] = typename Arithmetic<Real>::Total{};
  for (Index x = 0; x < group.vectors; ++x) {
    group.largest[x] = VectorOf<Real>{};
    group.sum[x] = typename Arithmetic<Real>::Total{};
    group.squares[x] = VectorOf<Real>{};
  }
}

// ---- the three stages, for a tile of V vectors ----

/// s[j][y] = scale * sum_i q[i][y] * k[j][i] for K keys.
template <class Real, int K, int V>
inline void score_keys(const VectorOf<Real>* q, const NumberOf<Real>* k, Index d_k, Real scale,
                       Real* s) {
  for (Index first = 0; first < d_k; first += kFeatureChain) {
    const Index last = smaller(first + kFeatureChain, d_k);
    Real chain[K][V] = {};
    for (Index i = first; i < last; ++i) {
#pragma GCC unroll 12
      for (int x = 0; x < K; ++x) {
        const auto k_ji = broadcast(k[x * d_k + i]);
#pragma GCC unroll 3
        for (int y = 0; y < V; ++y) chain[x][y] = multiply_add(q[i * V + y], k_ji, chain[x][y]);
      }
    }
#pragma GCC unroll 12
    for (int x = 0; x < K; ++x)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) {
        const Real sum = normalise(chain[x][y]);
        s[x * V + y] = first == 0 ? sum : add(s[x * V + y], sum);
      }
  }
  for (int x = 0; x < K * V; ++x) s[x] = multiply(s[x], scale);
}

/// Scores of a block:  s [keys][V]
template <class Real, int V>
void scores(const VectorOf<Real>* q, const NumberOf<Real>* k, Index keys, Index d_k, Real scale,
            Real* s) {
  constexpr int kKeys = Arithmetic<Real>::kSums / V;
  Index j = 0;
  for (; j + kKeys <= keys; j += kKeys)
    score_keys<Real, kKeys, V>(q, k + j * d_k, d_k, scale, s + j * V);
  for (; j < keys; ++j) score_keys<Real, 1, V>(q, k + j * d_k, d_k, scale, s + j * V);
}

template <class Vector>
inline bool any_differs(Vector a, Vector b) {
  const auto differs = a != b;
  for (std::size_t lane = 0; lane < sizeof differs / sizeof differs[0]; ++lane)
    if (differs[lane] != 0) return true;
  return false;
}

/// Raises the maximum of vector x + y to that of the block and scales down what was summed before.
template <class Real, int V>
void raise_largest(Group<Real>& group, Index x, Index y, const Real* s, Index keys) {
  const auto before = group.empty ? high(s[y]) : group.largest[x + y];
  auto largest = before;
  for (Index j = 0; j < keys; ++j) largest = larger(high(s[j * V + y]), largest);
  group.largest[x + y] = largest;
  if (group.empty || !any_differs(largest, before)) return;
  const Real factor = exp(subtract(from_high<Real>(before), largest));
  group.sum[x + y] = multiply(group.sum[x + y], factor);
  group.squares[x + y] *= high(factor) * high(factor);
  auto* o = group.o + x * group.question.d_v;
  for (Index d = 0; d < group.question.d_v; ++d) o[d * V + y] = multiply(o[d * V + y], factor);
}

/// Scores of a block to numerators exp(s - largest), in place, and their sums.
template <class Real, int V>
void softmax(Group<Real>& group, Index x, Index keys) {
  Real* s = group.s;
  if (!group.question.bounded)
    for (Index y = 0; y < V; ++y) raise_largest<Real, V>(group, x, y, s, keys);

  VectorOf<Real> largest[V], squares[V];
  for (int y = 0; y < V; ++y) {
    largest[y] = group.largest[x + y];
    squares[y] = group.squares[x + y];
  }
  for (Index first = 0; first < keys; first += kKeyChain) {
    const Index last = smaller(first + kKeyChain, keys);
    Real chain[V] = {};
    for (Index j = first; j < last; ++j)
#pragma GCC unroll 3
      for (int y = 0; y < V; ++y) {
        const Real p = exp(subtract(s[j * V + y], largest[y]));
        s[j * V + y] = p;
        chain[y] = add(chain[y], p);
        squares[y] = fma(high(p), high(p), squares[y]);
      }
    for (int y = 0; y < V; ++y) group.sum[x + y] = add_to_total(group.sum[x + y], chain[y]);
  }
  for (int y = 0; y < V; ++y) group.squares[x + y] = squares[y];
}

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

template <class Real>
void absorb(void* workspace, const NumberOf<Real>* k, const NumberOf<Real>* v, Index keys) {
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_k = group.question.d_k;
  const Real scale = scale_of<Real>(group.question);
  for_each_tile(group, [&]<int V>(Index x) {
    scores<Real, V>(group.q + x * d_k, k, keys, d_k, scale, group.s);
    softmax<Real, V>(group, x, keys);
    weighted_sum<Real, V>(group, x, v, keys);
  });
  group.empty = false;
}

// ---- results ----

inline void store_lane(FloatLanes x, Index lane, float* out, float*) {
  *out = x[lane];
}
inline void store_lane(DoubleLanes x, Index lane, double* out, double*) {
  *out = x[lane];
}
inline void store_lane(DoubleDouble x, Index lane, double* out, double* out_low) {
  *out = x.hi[lane];
  *out_low = x.lo[lane];
}

template <class Real>
void finish(void* workspace, NumberOf<Real>* o, NumberOf<Real>* o_low, NumberOf<Real>* sums,
            NumberOf<Real>* squares) {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_v = group.question.d_v;
  for_each_tile(group, [&]<int V>(Index x) {
    for (Index y = 0; y < V; ++y) {
      const Index first = (x + y) * kWidth;
      const Index lanes = smaller(kWidth, group.question.queries - first);
      const Real sum = value_of(group.sum[x + y]);
      for (Index lane = 0; lane < lanes; ++lane) {
        sums[first + lane] = high(sum)[lane];
        squares[first + lane] = group.squares[x + y][lane];
      }
      for (Index d = 0; d < d_v; ++d) {
        const Real quotient = divide(value_of(group.o[x * d_v + d * V + y]), sum);
        for (Index lane = 0; lane < lanes; ++lane) {
          const Index at = (first + lane) * d_v + d;
          store_lane(quotient, lane, o + at, o_low + at);
        }
      }
    }
  });
}

template <class Real>
void weights(void* workspace, const NumberOf<Real>* k, Index keys, NumberOf<Real>* w,
             NumberOf<Real>* w_low, Index stride) {
  constexpr Index kWidth = kLanes<NumberOf<Real>>;
  auto& group = *static_cast<Group<Real>*>(workspace);
  const Index d_k = group.question.d_k;
  const Real scale = scale_of<Real>(group.question);
  for_each_tile(group, [&]<int V>(Index x) {
    scores<Real, V>(group.q + x * d_k, k, keys, d_k, scale, group.s);
    for (Index y = 0; y < V; ++y) {
      const Index first = (x + y) * kWidth;
      const Index lanes = smaller(kWidth, group.question.queries - first);
      const Real sum = value_of(group.sum[x + y]);
      for (Index j = 0; j < keys; ++j) {
        const Real weight = divide(exp(subtract(group.s[j * V + y], group.largest[x + y])), sum);
        for (Index lane = 0; lane < lanes; ++lane) {
          const Index at = (first + lane) * stride + j;
          store_lane(weight, lane, w + at, w_low + at);
        }
      }
    }
  });
}

template <class Real>
constexpr Kernel<NumberOf<Real>> kernel_of() {
  return {kGroupVectors<Real> * kLanes<NumberOf<Real>>,
          workspace_bytes<Real>,
          begin<Real>,
          absorb<Real>,
          finish<Real>,
          weights<Real>};
}

}  // namespace

extern const Kernel<float> float32 = kernel_of<FloatLanes>();
extern const Kernel<double> float64 = kernel_of<DoubleLanes>();
extern const Kernel<double> double_double = kernel_of<DoubleDouble>();

}  // namespace sdpa::kernel::SDPA_ISA
