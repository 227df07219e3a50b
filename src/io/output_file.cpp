#include "io/output_file.h"

#include "base/error.h"
#include "io/descriptor.h"
#include "io/mapped_file.h"
#include "io/output_place.h"
#include "io/quote.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sdpa {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

#ifdef STATX_ATTR_MOUNT_ROOT
constexpr std::uint64_t kMountPoint = STATX_ATTR_MOUNT_ROOT, kAppendOnly = STATX_ATTR_APPEND;
#else
constexpr std::uint64_t kMountPoint = 0, kAppendOnly = 0;
#endif

std::string words_of(int error_number) {
  return std::generic_category().message(error_number);
}

std::string folder_of(const std::string& target) {
  const std::filesystem::path folder = std::filesystem::path(target).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Whether the file has this attribute of statx, as far as the system knows it.
bool has_attribute([[maybe_unused]] const std::string& target,
                   [[maybe_unused]] std::uint64_t attribute) {
#ifdef STATX_ATTR_MOUNT_ROOT
  struct statx status {};
  return statx(AT_FDCWD, target.c_str(), AT_SYMLINK_NOFOLLOW, 0, &status) == 0 &&
         (status.stx_attributes & attribute) != 0;
#else
  return false;
#endif
}

/// Throws Error where writing is forbidden. It is not tried, for that would look like a change.
void require_writable(const std::string& target, const std::string& place) {
  // Replacing needs no permission on the file itself, but who took it away meant it.
  if (faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) throw_system_error(place, errno);
  if (has_attribute(target, kAppendOnly)) throw Error(place, "can only be appended to");
}

/// Why this file cannot be replaced, as far as that shows before it is tried; empty if nothing is
/// in the way.
std::string obstacle_to(const std::string& target, const struct stat& status) {
  if (has_attribute(target, kMountPoint)) return "it is a mount point";
  struct stat folder {};
  const uid_t user = geteuid();
  if (stat(folder_of(target).c_str(), &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 &&
      user != 0 && user != status.st_uid && user != folder.st_uid)
    return "it belongs to another user, in a sticky folder";
  return "";
}

/// Into /dev, which is no place for files, a slip of the finger leads, as /dev/stdout.npy.
void refuse_new_device(const std::string& target, const std::string& place) {
  struct stat folder {
  }, devices{};
  if (stat(folder_of(target).c_str(), &folder) == 0 && stat("/dev", &devices) == 0 &&
      folder.st_dev == devices.st_dev && folder.st_ino == devices.st_ino)
    throw Error(place, "there is no such device, and no file is made in /dev");
}

/// Throws Error with `place` if what is written at the descriptor now changes an input that is
/// still to be read. What is appended behind it does not.
void require_no_input(int descriptor, const std::string& place) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) throw_system_error(place, errno);
  const auto input = mapped_input(status.st_dev, status.st_ino);
  if (!input || (fcntl(descriptor, F_GETFL) & O_APPEND) != 0) return;
  const off_t position = lseek(descriptor, 0, SEEK_CUR);
  if (position >= 0 && static_cast<std::size_t>(position) >= input->size) return;
  throw Error(place, "is the same file as " + input->place +
                         ", which would be overwritten while it is read");
}

/// Writes all of it. 0, or an error number.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return 0;
}

/// Copies all of one file over what another one holds. 0, or an error number.
int overwrite(int from, int to) {
  std::vector<std::byte> block(kBlockBytes);
  for (off_t size = 0;;) {
    const ssize_t count = read(from, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) return ftruncate(to, size) == 0 ? 0 : errno;
    if (const int error = write_all(to, {block.data(), static_cast<std::size_t>(count)}))
      return error;
    size += count;
  }
}

/// The same by names.
int overwrite(const std::string& target, const std::string& source) {
  const Descriptor from{open_file(source.c_str(), O_RDONLY)};
  if (from.number < 0) return errno;
  const int to = open_file(target.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
  if (to < 0) return errno;
  const int error = overwrite(from.number, to);
  // Some file systems say only here that the disk is full.
  return close(to) != 0 && errno != EINTR && error == 0 ? errno : error;
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : place_(output_name(path)) {
  const OutputPlace to = output_place(path);
  if (to.descriptor) {
    open_descriptor(*to.descriptor);
    return;
  }
  if (to.status && S_ISDIR(to.status->st_mode)) throw_system_error(place_, EISDIR);
  target_ = to.target;
  if (!to.is_file()) {
    descriptor_ = open_file(target_.c_str(), O_WRONLY);
    if (descriptor_ < 0) throw_system_error(place_, errno);
    return;
  }
  if (to.status) {
    require_writable(target_, place_);
    obstacle_ = obstacle_to(target_, *to.status);
  } else {
    refuse_new_device(target_, place_);
  }
  open_beside(to.status ? &*to.status : nullptr);
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

void OutputFile::open_descriptor(int number) {
  const int flags = fcntl(number, F_GETFL);
  if (flags < 0) throw_system_error(place_, errno);
  if ((flags & O_ACCMODE) == O_RDONLY) throw Error(place_, "is open for reading only");
  require_no_input(number, place_);
  descriptor_ = fcntl(number, F_DUPFD_CLOEXEC, 3);
  if (descriptor_ < 0) throw_system_error(place_, errno);
}

/// replaced   the file that is there already, if any
void OutputFile::open_beside(const struct stat* replaced) {
  try {
    temporary_.emplace(folder_of(target_));
  } catch (const Error& error) {
    throw Error(place_, error.what());
  }
  descriptor_ = open_file(temporary_->path(), O_WRONLY | O_CREAT | O_EXCL, replaced ? 0600 : 0666);
  if (descriptor_ < 0) {
    const int error_number = errno;
    temporary_.reset();
    if (error_number == ENOENT || error_number == ENOTDIR) throw_system_error(place_, error_number);
    throw Error(place_, "cannot make a file in its folder: " + words_of(error_number));
  }
  if (replaced == nullptr) return;
  // Only root can give a file away; otherwise it belongs to who wrote it.
  [[maybe_unused]] const int given = fchown(descriptor_, replaced->st_uid, replaced->st_gid);
  if (fchmod(descriptor_, replaced->st_mode & 0777) != 0) {
    const int error_number = errno;
    abandon();
    throw_system_error(place_, error_number);
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
  if (const int error_number = write_all(descriptor_, bytes))
    throw_system_error(place_, error_number);
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(place_, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
}

void OutputFile::flush() {
  if (!buffer_.empty()) write_now(std::exchange(buffer_, {}));
}

void OutputFile::finish() {
  if (descriptor_ < 0) return;
  write_now(buffer_);
  const int descriptor = std::exchange(descriptor_, -1);
  // Linux has closed the descriptor even when a signal interrupts.
  if (close(descriptor) != 0 && errno != EINTR) throw_system_error(place_, errno);
}

void OutputFile::commit() {
  finish();
  if (!temporary_) return;
  if (obstacle_.empty()) {
    if (rename(temporary_->path(), target_.c_str()) == 0) {
      temporary_.reset();
      return;
    }
    obstacle_ = words_of(errno);
  }
  overwrite_target();
}

void OutputFile::overwrite_target() {
  const std::string complete = temporary_->path();
  temporary_.reset();  // whatever happens now, it is not removed before the target is whole
  if (const int error_number = overwrite(target_, complete))
    throw Error(place_, "cannot be replaced (" + obstacle_ + ") or overwritten (" +
                            words_of(error_number) + "); the complete output is in " +
                            printable(complete));
  unlink(complete.c_str());
  note_ = place_ + ": could not be replaced (" + obstacle_ + "), so it was overwritten in place";
}

bool OutputFile::is_terminal() const {
  return isatty(descriptor_) == 1;
}

}  // namespace sdpa
