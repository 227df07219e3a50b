#pragma once

#include "attention/mask.h"
#include "oracle/mpfr.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sdpa::oracle {

/// A random mask of one head, for (T_q, T_k) scores; empty rows are zeros.
MaskOptions random_mask(std::uint64_t seed, Index T_q, Index T_k);

/// The keys that each query of one head sees, and their biases: the definition of MaskOptions, pair
/// by pair.
std::vector<Seen> seen_by(const MaskOptions& mask, Index T_q, Index T_k);

/// What a mask is, for messages.
std::string described(const MaskOptions& mask);

}  // namespace sdpa::oracle
