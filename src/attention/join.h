#pragma once

#include "attention/layout.h"
#include "attention/mask.h"

#include <span>

namespace sdpa {

/// Keys, or values, that lie in several arrays, as one: those of the first array, then those of the
/// second, and so on along T. A single array is given back as it is; several are copied, in a type
/// that holds the numbers of all.
///
/// Where the last axis holds the heads, an array of a rank one higher is (..., G, T, d) already; if
/// there are both, all become that.
///
/// Throws Error, beginning with the name of the array at fault, if it differs from the others in
/// more than T, or if its last axis does not hold the heads that they have.
NamedArray joined(std::span<const NamedArray> parts, const Layout& layout);

}  // namespace sdpa
