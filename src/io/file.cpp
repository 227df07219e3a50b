#include "io/file.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/mapped_file.h"
#include "io/quote.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

namespace sdpa {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

[[noreturn]] void fail(std::string_view place, int error_number) {
  throw Error(place, std::generic_category().message(error_number));
}

/// A descriptor above the three standard ones, so that an input cannot become standard output where
/// that was closed. -1 and errno on failure.
int above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > 2) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  const int error_number = errno;
  close(descriptor);
  errno = error_number;
  return moved;
}

int open_file(const char* path, int flags, mode_t mode = 0) {
  int descriptor;
  do descriptor = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
  while (descriptor < 0 && errno == EINTR);
  return above_standard(descriptor);
}

struct Descriptor {
  int number;
  ~Descriptor() { close(number); }
};

FileBytes read_to_end(int descriptor, const std::string& place, std::optional<std::size_t> needed) {
  constexpr std::size_t kFarBeyond = std::size_t{1} << 24;
  std::unique_ptr<void, void (*)(void*)> memory(nullptr, std::free);
  std::size_t capacity = 0;
  std::size_t size = 0;
  for (;;) {
    if (size == capacity) {
      capacity = capacity != 0 ? 2 * capacity : kBlockBytes;
      void* larger = std::realloc(memory.get(), capacity);
      if (larger == nullptr)
        throw Error(place, "no memory for more than " + std::to_string(size) + " bytes");
      static_cast<void>(memory.release());  // realloc has freed or kept it
      memory.reset(larger);
    }
    auto* start = static_cast<std::byte*>(memory.get());
    const ssize_t count = read(descriptor, start + size, capacity - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(place, errno);
    if (count == 0) {
      std::shared_ptr<const void> owner(std::move(memory));
      return {std::move(owner), {start, size}};
    }
    size += static_cast<std::size_t>(count);
    if (needed && size > *needed && size - *needed > kFarBeyond)
      throw Error(place, "more than " + std::to_string(*needed + kFarBeyond) +
                             " bytes, its shape and type need " + std::to_string(*needed));
  }
}

FileBytes read_descriptor(int descriptor, const std::string& place,
                          std::optional<std::size_t> needed) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail(place, errno);
  if (S_ISDIR(status.st_mode)) fail(place, EISDIR);
  // Files of /proc claim to be regular and of size 0; and a shell may have read a part of standard
  // input already.
  if (S_ISREG(status.st_mode) && status.st_size > 0 && lseek(descriptor, 0, SEEK_CUR) == 0) {
    FileBytes file = map_file(descriptor, static_cast<std::size_t>(status.st_size), place);
    if (file.owner) return file;
  }
  return read_to_end(descriptor, place, needed);
}

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

/// What a chain of symbolic links ends in, whether it exists or not.
std::string follow_links(const std::string& path, const std::string& place) {
  constexpr int kLongestChain = 40;  // as the kernel's own
  std::filesystem::path target = path;
  for (int links = 0; links < kLongestChain; ++links) {
    std::error_code ignored;
    if (!std::filesystem::is_symlink(target, ignored)) return target.string();
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) fail(place, error.value());
    target = target.parent_path() / next;
  }
  fail(place, ELOOP);
}

/// Where an output goes.
struct Destination {
  bool replaced;  ///< a regular file that will be replaced, or a new one
  bool exists;    ///< whether `status` is known
  struct stat status;
};

Destination destination_of(const std::string& path) {
  Destination to{};
  const auto number = open_descriptor_of(path);
  to.exists = (number ? fstat(*number, &to.status) : stat(path.c_str(), &to.status)) == 0;
  to.replaced = !number && (!to.exists || S_ISREG(to.status.st_mode));
  return to;
}

/// The one name of a file that may not exist yet.
std::filesystem::path canonical_target(const std::string& path) {
  const std::filesystem::path target = follow_links(path, printable(path));
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(target, error);
  const std::filesystem::path found = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute : found;
}

}  // namespace

FileBytes read_file(const std::string& path, std::optional<std::size_t> needed) {
  if (path == "-") return read_descriptor(0, "standard input", needed);
  const std::string place = printable(path);
  const Descriptor file{open_file(path.c_str(), O_RDONLY)};
  if (file.number < 0) fail(place, errno);
  return read_descriptor(file.number, place, needed);
}

bool file_exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

bool is_same_output(const std::string& a, const std::string& b) {
  const Destination to_a = destination_of(a), to_b = destination_of(b);
  if (to_a.replaced && to_b.replaced) return canonical_target(a) == canonical_target(b);
  return to_a.exists && to_b.exists && to_a.status.st_dev == to_b.status.st_dev &&
         to_a.status.st_ino == to_b.status.st_ino;
}

OutputFile::OutputFile(const std::string& path)
    : place_(path == "-" ? "standard output" : printable(path)) {
  if (const auto number = open_descriptor_of(path)) {
    descriptor_ = fcntl(*number, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail(place_, errno);
    return;
  }
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(place_, errno);
  if (exists && S_ISDIR(status.st_mode)) fail(place_, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open_file(path.c_str(), O_WRONLY);
    if (descriptor_ < 0) fail(place_, errno);
    return;
  }

  // Replacing needs no permission on the file itself, but who took it away meant it.
  if (exists && faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) fail(place_, errno);
  open_beside(path, exists);
  if (exists) {
    // Only root can give a file away; otherwise it belongs to who wrote it.
    [[maybe_unused]] const int given = fchown(descriptor_, status.st_uid, status.st_gid);
    if (fchmod(descriptor_, status.st_mode & 0777) != 0) {
      const int error_number = errno;
      abandon();
      fail(place_, error_number);
    }
  }
}

OutputFile::~OutputFile() {
  abandon();
}

void OutputFile::abandon() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (temporary_) unlink(temporary_->path());
  temporary_.reset();
}

void OutputFile::open_beside(const std::string& path, bool exists) {
  target_ = follow_links(path, place_);
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  try {
    temporary_.emplace(folder.empty() ? "." : folder.string());
  } catch (const Error& error) {
    throw Error(place_, error.what());
  }
  const mode_t mode = exists ? 0600 : 0666;
  descriptor_ = open_file(temporary_->path(), O_WRONLY | O_CREAT | O_EXCL, mode);
  if (descriptor_ < 0) {
    const int error_number = errno;
    temporary_.reset();
    if (error_number == ENOENT || error_number == ENOTDIR) fail(place_, error_number);
    throw Error(place_, "cannot make a file in its folder: " +
                            std::generic_category().message(error_number));
  }
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() >= kBlockBytes) {
    write_now(std::exchange(buffer_, {}));
    write_now(bytes);
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::write_now(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(place_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::finish() {
  if (descriptor_ < 0) return;
  write_now(buffer_);
  const int descriptor = std::exchange(descriptor_, -1);
  // Linux has closed the descriptor even when a signal interrupts.
  if (close(descriptor) != 0 && errno != EINTR) fail(place_, errno);
}

void OutputFile::commit() {
  finish();
  if (!temporary_) return;
  if (rename(temporary_->path(), target_.c_str()) != 0) fail(place_, errno);
  temporary_.reset();
}

bool OutputFile::is_terminal() const {
  return isatty(descriptor_) == 1;
}

}  // namespace sdpa
