#pragma once

#include "stage/head.h"

#include <span>
#include <utility>

namespace sdpa {

/// 0 where the scaled dot product of query t and key j is a finite number, else what IEEE 754 makes of
/// the sum of products. A finite product counts as finite even where float64 could not hold it.
double dot_class(const Head& head, Index t, Index j);

/// Row t of q and some keys with one more feature, in float64: infinite dot products, of which a cap
/// makes C and -C, become products of that feature that are far beyond any cap.
std::pair<Array, Array> capped_operands(const Head& head, Index t, std::span<const Index> keys);

}  // namespace sdpa
