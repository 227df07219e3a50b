#pragma once

#include "io/temporary.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// Bytes in memory, or a part of them, and what keeps them alive.
struct FileBytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;

  FileBytes part(std::size_t offset, std::size_t size) const {
    return {owner, bytes.subspan(offset, size)};
  }
};

/// All bytes of an input; "-" is standard input.
///
/// A regular file is mapped, not copied. Anything else is read to its end, however slowly it comes,
/// into memory that grows with what has come. If a mapped file shrinks while it is in use, the process
/// ends with a message, see mapped_file.h.
/// Throws Error that names the file if it is a folder or cannot be read, or if `needed` is given and
/// it is not mapped and goes on far beyond so many bytes, as an endless device does.
FileBytes read_file(const std::string& path, std::optional<std::size_t> needed = {});

/// Whether something of this name can be opened as an input or is at least there.
bool file_exists(const std::string& path);

/// Whether two names of outputs mean one place, through links and descriptors too. Hard links to one
/// file are two places, since outputs replace files. Throws Error as OutputFile does for links that
/// lead nowhere.
bool is_same_output(const std::string& a, const std::string& b);

/// An output. "-" is standard output; "/dev/stdout" and "/dev/fd/N" are the open descriptors; other
/// devices and pipes are opened. All these are written as the bytes come.
///
/// A regular file is written under a temporary name beside its place and appears only by commit(),
/// with the permissions of the file it replaces. A symbolic link stays, what it points to is
/// replaced. If the process is killed, the place still holds what it held before, and a hidden file
/// .sdpa-* may be left beside it. Every write and the close are checked; Error names the file.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Writes and closes what is left; only commit() can follow.
  void finish();

  /// Makes the file appear; finishes it first where that has not been done.
  void commit();

  bool is_terminal() const;

  /// How messages call it.
  const std::string& place() const { return place_; }

 private:
  void open_beside(const std::string& path, bool exists);
  void write_now(std::span<const std::byte> bytes);
  void abandon();

  std::string place_;
  std::string target_;                      ///< what commit() replaces; for a regular file
  std::optional<TemporaryName> temporary_;  ///< present while there is something to remove
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

}  // namespace sdpa
