#pragma once

#include "array/array.h"

#include <string>

namespace sdpa {

/// If numbers of an input are NaN: one line on standard error with their share. Bits that are read
/// as another type than theirs are often NaN, so if the user has said the type, it asks for that.
///
/// argument   the word of the command line that names the input
/// place      how messages call it
void warn_of_nans(const Array& input, const std::string& argument, const std::string& place);

}  // namespace sdpa
