#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

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

}  // namespace sdpa
