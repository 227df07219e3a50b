#pragma once

// Vectors of the compiler's vector extension. Each lane belongs to one query and never meets
// another lane, so a query's bits do not depend on how many lanes a processor has.
//
// SDPA_ISA, the name of the instruction set this is compiled for, and SDPA_VECTOR_BYTES come from
// the build.

#include <cstddef>
#include <cstdint>

namespace sdpa::kernel::SDPA_ISA {

using Index = std::ptrdiff_t;

typedef float FloatLanes __attribute__((vector_size(SDPA_VECTOR_BYTES)));
typedef double DoubleLanes __attribute__((vector_size(SDPA_VECTOR_BYTES)));
typedef std::int32_t Int32Lanes __attribute__((vector_size(SDPA_VECTOR_BYTES)));
typedef std::int64_t Int64Lanes __attribute__((vector_size(SDPA_VECTOR_BYTES)));

/// The vectors that go with float and double: of numbers, and of integers as wide.
template <class Number>
struct Lanes;
template <>
struct Lanes<float> {
  using Vector = FloatLanes;
  using Bits = Int32Lanes;
};
template <>
struct Lanes<double> {
  using Vector = DoubleLanes;
  using Bits = Int64Lanes;
};

template <class Number>
inline constexpr Index kLanes = SDPA_VECTOR_BYTES / sizeof(Number);

/// x in every lane. Compilers drop the subtraction of zero (not an addition, which would turn -0
/// into +0).
static inline FloatLanes broadcast(float x) {
  return x - FloatLanes{};
}
static inline DoubleLanes broadcast(double x) {
  return x - DoubleLanes{};
}

/// Whether the processor has fma as one instruction; else it is a call for each lane.
#if defined(__FMA__) || defined(__aarch64__)
inline constexpr bool kHasFma = true;
#else
inline constexpr bool kHasFma = false;
#endif

/// a * b + c, rounded once. Compilers turn the loop into one instruction where there is one.
static inline FloatLanes fma(FloatLanes a, FloatLanes b, FloatLanes c) {
  FloatLanes result;
  for (Index lane = 0; lane < kLanes<float>; ++lane)
    result[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return result;
}
static inline DoubleLanes fma(DoubleLanes a, DoubleLanes b, DoubleLanes c) {
  DoubleLanes result;
  for (Index lane = 0; lane < kLanes<double>; ++lane)
    result[lane] = __builtin_fma(a[lane], b[lane], c[lane]);
  return result;
}

/// The larger; b if either is not a number.
template <class Vector>
static inline Vector larger(Vector a, Vector b) {
  return a > b ? a : b;
}

/// x. Compilers that reorder steps to save registers do not move those before it behind it.
template <class Vector>
[[gnu::always_inline]] inline Vector in_order(Vector x) {
#if defined(__x86_64__) && (SDPA_VECTOR_BYTES <= 32 || defined(__AVX512F__))  // fits a register
  asm("" : "+v"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#endif
  return x;
}

/// Several vectors that take each step together, so that no step has to wait for the one before.
template <class Vector, int count>
struct Several {
  Vector of[count];

  Several() = default;
  [[gnu::always_inline]] inline Several(Vector x) {
    for (Vector& vector : of) vector = x;
  }

  [[gnu::always_inline]] friend inline Several operator+(Several a, Several b) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) a.of[i] = a.of[i] + b.of[i];
    return a;
  }
  [[gnu::always_inline]] friend inline Several operator-(Several a, Several b) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) a.of[i] = a.of[i] - b.of[i];
    return a;
  }
  [[gnu::always_inline]] friend inline Several operator-(Several a) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) a.of[i] = -a.of[i];
    return a;
  }
  [[gnu::always_inline]] friend inline Several operator*(Several a, Several b) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) a.of[i] = a.of[i] * b.of[i];
    return a;
  }
  [[gnu::always_inline]] friend inline Several fma(Several a, Several b, Several c) {
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i)
      a.of[i] = in_order(kernel::SDPA_ISA::fma(a.of[i], b.of[i], c.of[i]));
    return a;
  }
};

}  // namespace sdpa::kernel::SDPA_ISA
