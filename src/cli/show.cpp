#include "cli/commands.h"

#include "cli/streams.h"

namespace sdpa {

int run(const ShowOptions& options) {
  print(options.text);
  return 0;
}

}  // namespace sdpa
