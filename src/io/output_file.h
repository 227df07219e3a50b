#pragma once

#include "io/temporary.h"

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// An output. "-" is standard output; "/dev/stdout" and "/dev/fd/N" are the open descriptors; other
/// devices and pipes are opened. All these are written as the bytes come. One that would overwrite
/// a mapped input is refused.
///
/// A regular file is written under a temporary name beside its place and appears only by commit(),
/// with the permissions of the file it replaces. A symbolic link stays, what it points to is
/// replaced. If the process is killed, the place still holds what it held before, and a hidden file
/// .sdpa-* may be left beside it. Every write and the close are checked; Error names the file.
///
/// A file that cannot be replaced, as a mount point or another user's in a sticky folder, is
/// overwritten by commit() as the last resort, and note() says so. If that fails as well, the
/// temporary file stays, complete, and the Error names it.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();

  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Writes these bytes at their place of a regular file, apart from what write() puts one behind the
  /// other.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Writes what has been kept back, so that whoever reads a stream has all of it.
  void flush();

  /// Writes and closes what is left; only commit() can follow.
  void finish();

  /// Makes the file appear; finishes it first where that has not been done.
  void commit();

  bool is_terminal() const;

  /// Whether bytes can only be written one behind the other.
  bool is_stream() const { return target_.empty() || !temporary_; }

  /// How messages call it.
  const std::string& place() const { return place_; }

  /// What the user should know after commit(), a sentence as Error's; mostly nothing.
  const std::string& note() const { return note_; }

 private:
  void open_descriptor(int number);
  void open_beside(const struct stat* replaced);
  void write_now(std::span<const std::byte> bytes);
  void overwrite_target();
  void abandon();

  std::string place_;
  std::string target_;    ///< what commit() replaces; for a regular file
  std::string obstacle_;  ///< why it cannot be replaced
  std::string note_;
  std::optional<TemporaryName> temporary_;  ///< present while there is something to remove
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

}  // namespace sdpa
