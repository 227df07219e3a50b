#pragma once

#include <cstddef>

namespace sdpa::kernel {

using Index = std::ptrdiff_t;

// How sums are cut into short chains. Results depend on these, in each build alike.

/// Keys that one call of `absorb` takes at most.
inline constexpr Index kKeyBlock = 256;
/// Keys of one workspace, a multiple of kKeyBlock; a group of more keys is merged from several.
inline constexpr Index kKeySpan = 2048;
/// Features that are summed in one chain before the chain is added to the score.
inline constexpr Index kFeatureChain = 16;
/// Keys whose weighted values are summed in one chain before the chain is added to the block's sum.
inline constexpr Index kKeyChain = 32;

}  // namespace sdpa::kernel
