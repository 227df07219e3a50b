#include "base/error.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "io/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The first line is the words of a command, the rest is the file f, which is standard input too.
// Whatever they are, the command ends with an exit status or with Error; if with Error, it leaves
// no file behind.

using namespace sdpa;

namespace {

/// The current folder for all runs, removed with the process.
struct CurrentFolder : TemporaryFolder {
  CurrentFolder() { std::filesystem::current_path(path("")); }
};

/// Empties the folder but for f.
void make_file(std::string_view content) {
  for (const auto& entry : std::filesystem::directory_iterator("."))
    std::filesystem::remove_all(entry.path());
  const int file = open("f", O_RDWR | O_CREAT, 0600);
  const bool written =
      file >= 0 &&
      write(file, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) == STDIN_FILENO;
  if (!written) std::abort();
  close(file);
}

std::vector<std::string> words_in(std::string_view line) {
  std::vector<std::string> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    words.emplace_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

std::ptrdiff_t files_in_folder() {
  return std::distance(std::filesystem::directory_iterator("."),
                       std::filesystem::directory_iterator());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CurrentFolder folder;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view line = input.substr(0, input.find('\n'));
  // Words of a command hold no zero, and without a slash they name no file outside of the folder.
  if (line.find_first_of(std::string_view("/\0", 2)) != line.npos) return 0;
  make_file(input.substr(std::min(line.size() + 1, size)));
  try {
    const Request request = parse(words_in(line));
    const int status = std::visit([](const auto& options) { return run(options); }, request);
    if (status < 0 || status > 2) std::abort();
  } catch (const Error&) {
    if (files_in_folder() != 1) std::abort();
  }
  return 0;
}
