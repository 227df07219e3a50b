#pragma once

#include "attention/attention.h"
#include "attention/head.h"

namespace sdpa {

/// Attention of a head in plain arithmetic of float32 or float64 (settings.precision), then rounded
/// to `dtype`. Operands that the arithmetic does not hold are rounded first. Sums run in an order
/// that only the shape decides, so the bits are the same on every machine.
Attention plain_attention(const Head& head, Precision precision, Dtype dtype, int threads,
                          bool weights);

}  // namespace sdpa
