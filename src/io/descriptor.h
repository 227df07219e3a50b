#pragma once

#include <sys/types.h>

#include <string_view>

namespace sdpa {

/// Throws Error with the system's words for `error_number`.
[[noreturn]] void throw_system_error(std::string_view place, int error_number);

/// open(2), as often as signals interrupt it. The descriptor is none of the three standard ones, so
/// that no file takes their place where they are closed. -1 and errno on failure.
int open_file(const char* path, int flags, mode_t mode = 0);

/// A descriptor that is closed at the end of a scope.
struct Descriptor {
  int number;
  ~Descriptor();
};

}  // namespace sdpa
