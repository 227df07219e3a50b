#pragma once

#include "attention/attention.h"
#include "stage/head.h"

#include <span>

namespace sdpa {

/// Attention of rows of heads in plain arithmetic of float32 or float64 (`precision`), then rounded
/// to the type of the results, which are as empty_results makes them. Operands that the arithmetic
/// does not hold are rounded first. Sums run in an order that only the shape decides, so the bits
/// are the same on every machine.
void plain_attention(std::span<const HeadRows> parts, Precision precision, int threads,
                     Attention& results);

}  // namespace sdpa
