#include "cli/streams.h"

#include "base/error.h"
#include "io/quote.h"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

namespace sdpa {

void print(std::string_view text) {
  errno = 0;
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error("standard output", std::generic_category().message(errno));
}

void complain(std::string_view message) {
  const std::string line = "sdpa: " + printable(message) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace sdpa
