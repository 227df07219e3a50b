#pragma once

#include "io/zip_directory.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sdpa {

/// The bytes of a member, unpacked as far as they are asked for. Needs some 40 KB beside what the
/// caller provides.
class ZipReader {
 public:
  /// `archive` must outlive the reader.
  ///
  /// Throws Error that begins with `place` if the member is encrypted or packed by anything but
  /// deflate, if it is not where the directory says, or if so few packed bytes cannot hold its
  /// size.
  ZipReader(std::span<const std::byte> archive, const ZipMember& member, std::string place);
  ~ZipReader();

  /// Fills `out` with the next bytes. Throws Error if there are fewer, or if they are damaged.
  void read(std::span<std::byte> out);

  /// To be called when `size` bytes have been read: throws Error if there are more of them, or if
  /// they do not match their checksum.
  void finish();

 private:
  struct Inflater;

  /// Unpacks up to `size` bytes and returns how many there were.
  std::size_t unpack(std::byte* out, std::size_t size);

  std::string place_;
  std::span<const std::byte> packed_;   ///< not yet unpacked
  std::unique_ptr<Inflater> inflater_;  ///< of zlib; absent where bytes are stored as they are
  std::uint64_t size_;
  std::uint64_t done_ = 0;
  std::uint32_t wanted_checksum_;
  std::uint32_t checksum_ = 0;
};

}  // namespace sdpa
