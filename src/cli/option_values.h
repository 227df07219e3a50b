#pragma once

#include "array/dtype.h"
#include "array/shape.h"
#include "cli/option_table.h"

#include <cstdint>

namespace sdpa {

/// The value of an option from its word. All throw Error, which begins with the option's name,
/// if the word is none of those allowed.

/// A type of results.
Dtype float_type_from(const Given& given);

/// A number of threads, from 1 to 4096.
int threads_from(const Given& given);

/// A number of heads, 1 or more.
Index heads_from(const Given& given);

/// A finite decimal number.
double number_from(const Given& given);

/// A finite number of 0 or more.
double size_from(const Given& given);

/// Two extents or more joined by x, as 8x12.
Shape shape_from(const Given& given);

/// A count of 0 or more.
std::uint64_t steps_from(const Given& given);

}  // namespace sdpa
