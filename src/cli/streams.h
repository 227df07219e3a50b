#pragma once

#include <string_view>

namespace sdpa {

/// Writes to standard output. Throws Error if not all of it could be written.
void print(std::string_view text);

/// Writes one line to standard error, behind the program's name. Control characters, which can come
/// from words of the command line, are written as \xNN.
void complain(std::string_view message);

}  // namespace sdpa
