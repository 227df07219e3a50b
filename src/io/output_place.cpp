#include "io/output_place.h"

#include "base/numbers.h"
#include "io/descriptor.h"
#include "io/quote.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>

namespace sdpa {

namespace {

/// N of "/dev/fd/N" and what else names a descriptor of this process: opening these would begin a
/// redirected file anew.
std::optional<int> open_descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const auto number = parse_integer(std::string_view(path).substr(folder.size()));
    if (number && *number >= 0 && *number <= std::numeric_limits<int>::max())
      return static_cast<int>(*number);
  }
  return std::nullopt;
}

/// The one name of a file that may not exist yet.
std::filesystem::path canonical(const std::string& target) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(target, error);
  const std::filesystem::path found = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute : found;
}

}  // namespace

bool OutputPlace::is_stream() const {
  if (descriptor) return true;
  return status &&
         (S_ISFIFO(status->st_mode) || S_ISCHR(status->st_mode) || S_ISSOCK(status->st_mode));
}

bool OutputPlace::is_sink() const {
  if (!status || !S_ISCHR(status->st_mode)) return false;
  constexpr const char* kSinks[] = {"/dev/null", "/dev/zero", "/dev/full"};
  return std::any_of(std::begin(kSinks), std::end(kSinks), [this](const char* path) {
    struct stat sink {};
    return stat(path, &sink) == 0 && S_ISCHR(sink.st_mode) && sink.st_rdev == status->st_rdev;
  });
}

std::string output_name(const std::string& path) {
  return path == "-" ? "standard output" : printable(path);
}

OutputPlace output_place(const std::string& path) {
  constexpr int kLongestChain = 40;  // as the kernel's own
  std::filesystem::path target = path;
  for (int links = 0; links < kLongestChain; ++links) {
    struct stat status {};
    if (const auto number = open_descriptor_of(target.string())) {
      if (fstat(*number, &status) != 0) return {number, {}, {}};
      return {number, {}, status};
    }
    if (lstat(target.c_str(), &status) != 0) {
      if (errno != ENOENT) throw_system_error(output_name(path), errno);
      return {{}, target.string(), {}};
    }
    if (!S_ISLNK(status.st_mode)) return {{}, target.string(), status};
    std::error_code error;
    const std::filesystem::path text = std::filesystem::read_symlink(target, error);
    if (error) throw_system_error(output_name(path), error.value());
    const std::filesystem::path next = target.parent_path() / text;
    struct stat unused {};
    // Links of /proc can be followed, but "pipe:[7]", their text, is no path.
    if (lstat(next.c_str(), &unused) != 0 && stat(target.c_str(), &status) == 0)
      return {{}, target.string(), status};
    target = next;
  }
  throw_system_error(output_name(path), ELOOP);
}

bool is_same_output(const std::string& a, const std::string& b) {
  const OutputPlace to_a = output_place(a), to_b = output_place(b);
  if (to_a.is_file() && to_b.is_file()) return canonical(to_a.target) == canonical(to_b.target);
  return to_a.status && to_b.status && !to_a.is_sink() &&
         to_a.status->st_dev == to_b.status->st_dev && to_a.status->st_ino == to_b.status->st_ino;
}

}  // namespace sdpa
