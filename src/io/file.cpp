#include "io/file.h"

#include "base/error.h"
#include "io/descriptor.h"
#include "io/mapped_file.h"
#include "io/quote.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace sdpa {

namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

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
    if (count < 0) throw_system_error(place, errno);
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
  if (fstat(descriptor, &status) != 0) throw_system_error(place, errno);
  if (S_ISDIR(status.st_mode)) throw_system_error(place, EISDIR);
  // Files of /proc claim to be regular and of size 0; and a shell may have read a part of standard
  // input already.
  if (S_ISREG(status.st_mode) && status.st_size > 0 && lseek(descriptor, 0, SEEK_CUR) == 0) {
    FileBytes file = map_file(descriptor, static_cast<std::size_t>(status.st_size), place);
    if (file.owner) return file;
  }
  return read_to_end(descriptor, place, needed);
}

}  // namespace

FileBytes read_file(const std::string& path, std::optional<std::size_t> needed) {
  if (path == "-") return read_descriptor(0, "standard input", needed);
  const std::string place = printable(path);
  const Descriptor file{open_file(path.c_str(), O_RDONLY)};
  if (file.number < 0) throw_system_error(place, errno);
  return read_descriptor(file.number, place, needed);
}

bool file_exists(const std::string& path) {
  return access(path.c_str(), F_OK) == 0;
}

}  // namespace sdpa
