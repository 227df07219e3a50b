#pragma once

#include "io/file.h"

#include <string>

namespace sdpa {

/// The bytes of a regular file, mapped, not copied. Without owner if it cannot be mapped.
///
/// If the file is cut short while it is in use, or the disk fails, the system ends the thread that
/// touches what is gone by SIGBUS, where nothing can be thrown. So this is the one place below cli
/// that prints and exits: temporary files are removed, one line on standard error says what has
/// been lost, and the exit status is 2.
FileBytes map_file(int descriptor, std::size_t size, const std::string& place);

}  // namespace sdpa
