#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// A file in an archive, as the directory at the archive's end describes it.
struct ZipMember {
  std::string name;
  int flags = 0;
  int method = 0;  ///< how it is packed
  std::uint32_t checksum = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header = 0;  ///< where its own header begins in the archive
};

/// Whether bytes begin as a zip archive does, also one in several parts.
bool is_zip(std::span<const std::byte> bytes);

/// The members of an archive, zip64 or not, in the order of the directory.
///
/// Throws Error that begins with `place` if bytes are missing at the end or follow it, if this is
/// one part of several, or if the directory is damaged.
std::vector<ZipMember> zip_members(std::span<const std::byte> archive, std::string_view place);

}  // namespace sdpa
