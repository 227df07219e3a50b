#include "base/error.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/streams.h"
#include "io/note.h"

#include <exception>
#include <new>
#include <string>
#include <variant>
#include <vector>

int main(int argc, char* argv[]) {
  using namespace sdpa;
  set_note_listener([](const std::string& sentence) { complain(sentence); });
  try {
    const Request request = parse(std::vector<std::string>(argv + 1, argv + argc));
    return std::visit([](const auto& options) { return run(options); }, request);
  } catch (const std::bad_alloc&) {
    complain("out of memory");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  return 2;
}
