#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sdpa::oracle {

/// Computes the random problem of a seed with the product and with the referee. Returns nothing if
/// output and weights agree bit for bit; otherwise what the problem is and the first difference,
/// with both values.
std::optional<std::string> difference_of(std::uint64_t seed);

/// The same with a random mask: causal, windows, alignments, lengths, arrays of truth values and
/// biases, alone and together.
std::optional<std::string> masked_difference_of(std::uint64_t seed);

/// The same with a random scale, cap and sink, with and without a mask. Nothing, too, where a capped
/// problem is not decided.
std::optional<std::string> scored_difference_of(std::uint64_t seed);

}  // namespace sdpa::oracle
