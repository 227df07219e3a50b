#pragma once

#include "array/array.h"

#include <optional>

namespace sdpa {

/// What a kernel worked in is the type of its numbers, which a file may hold in a wider one: numpy
/// has no bfloat16, and JSON no types.
///
/// The least precise float type, narrower than the array's own, that holds all its numbers; for
/// float64 also float32 if each is the shortest decimal of a number of float32. Nothing if there is
/// none, or no finite number.
std::optional<Dtype> narrower_type(const Array& array);

/// The array in that type.
Array narrowed(const Array& array, Dtype dtype);

/// How many elements are finite and no numbers of `dtype`.
Index count_wider(const Array& array, Dtype dtype);

/// How many exact results must need a wider type than all numbers of an output have, that this may
/// be called the type of the output. Small integers are numbers of 16 bits by chance, or exact; a
/// number of float64 is one of float32 by chance once in 2^29.
Index needed_evidence(Dtype dtype);

}  // namespace sdpa
