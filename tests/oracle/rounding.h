#pragma once

#include "array/dtype.h"
#include "oracle/big.h"

#include <cstdint>

namespace sdpa::oracle {

/// A binary floating-point format (IEEE 754-2019, table 3.5; bfloat16: the upper half of binary32).
struct Format {
  int precision;          ///< significant bits of a normal number
  int smallest_exponent;  ///< the smallest positive number is 2^smallest_exponent
  std::int64_t infinity;  ///< ordinal of infinity
};

/// Format of a float type.
Format format_of(Dtype dtype);

/// Numbers of a format counted from zero: 1 is the smallest positive number, -1 the negative of it,
/// and neighbours differ by one. For positive numbers this is also their bit pattern. Both zeros
/// are 0; infinity stands where the next number would be if exponents went on.
using Ordinal = std::int64_t;

/// The real number at an ordinal, exactly.
Big value_of(Ordinal ordinal, const Format& format);

/// The real number halfway from an ordinal to the next, exactly.
Big midpoint_after(Ordinal ordinal, const Format& format);

/// The number nearest to x, ties to even, in one rounding; overflow gives infinity.
Ordinal round_to(mpfr_srcptr x, const Format& format);

/// Stores the number at an ordinal in the type's bytes.
void store(Ordinal ordinal, Dtype dtype, std::byte* out);

}  // namespace sdpa::oracle
