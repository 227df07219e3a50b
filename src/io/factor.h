#pragma once

#include "array/array.h"

#include <string>
#include <string_view>

namespace sdpa {

/// What every number of a quantised array is multiplied by.
struct Factor {
  double value;
  std::string word;  ///< as typed
};

/// The factor that a word means: a decimal, which is the nearest float64, or with an f behind it the
/// nearest float32, as a kernel's own constant is; or 2^N, the power itself. Throws Error that begins
/// with `place` if the word is none of these or not finite.
Factor parse_factor(std::string_view word, std::string_view place);

/// The products as float64, exactly. Throws Error that begins with `place`, with the bits that would be
/// needed, if float64 does not hold one; NaN and infinities stay what they are.
Array multiplied(const Array& array, const Factor& factor, std::string_view place);

}  // namespace sdpa
