#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sdpa::oracle {

/// Computes the random problem of a seed with the product and with the referee. Returns nothing if
/// output and weights agree bit for bit; otherwise what the problem is and the first difference,
/// with both values.
std::optional<std::string> difference_of(std::uint64_t seed);

}  // namespace sdpa::oracle
