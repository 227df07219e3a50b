#pragma once

#include "io/file.h"

#include <sys/types.h>

#include <optional>
#include <string>

namespace sdpa {

/// The bytes of a regular file, mapped, not copied. Without owner if it cannot be mapped.
///
/// If the file is cut short while it is in use, or the disk fails, the system ends the thread that
/// touches what is gone by SIGBUS, where nothing can be thrown. So this is the one place below cli
/// that prints and exits: temporary files are removed, one line on standard error says what has
/// been lost, and the exit status is 2.
FileBytes map_file(int descriptor, std::size_t size, const std::string& place);

/// An input of which the bytes are mapped.
struct MappedInput {
  std::string place;
  std::size_t size;
};

/// The mapped input, if any, that is this file of this device.
std::optional<MappedInput> mapped_input(dev_t device, ino_t file);

}  // namespace sdpa
