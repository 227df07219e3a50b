#include "io/descriptor.h"

#include "base/error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace sdpa {

void throw_system_error(std::string_view place, int error_number) {
  throw Error(place, std::generic_category().message(error_number));
}

int open_file(const char* path, int flags, mode_t mode) {
  int descriptor;
  do descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0 || descriptor > 2) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  const int error_number = errno;
  close(descriptor);
  errno = error_number;
  return moved;
}

Descriptor::~Descriptor() {
  close(number);
}

}  // namespace sdpa
