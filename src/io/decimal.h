#pragma once

#include "array/dtype.h"

#include <optional>
#include <string_view>

namespace sdpa {

/// The number of the float type `dtype` (float64 for an integer type) nearest to the decimal that the
/// whole word is, in one rounding, ties to even: as std::from_chars reads it, a + in front allowed,
/// without regard to the locale; also nan, inf and infinity. Beyond the range of the type it is an
/// infinity. Nothing if the word is no number.
std::optional<double> nearest_to_decimal(std::string_view word, Dtype dtype);

/// Whether the word is nan, inf or infinity, with or without a sign, in upper case or lower.
bool is_word_of_non_finite(std::string_view word);

}  // namespace sdpa
