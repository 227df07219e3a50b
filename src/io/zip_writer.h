#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// A member of an archive that is being written: stored as it is, and dated as if there were no time.
struct ZipEntry {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t header = 0;  ///< where its own header begins in the archive
  std::uint32_t checksum = 0;
};

/// What stands before the bytes of a member, and behind them, when their checksum is known.
std::string zip_header(const ZipEntry& entry);
std::string zip_descriptor(const ZipEntry& entry);

/// What stands behind all members, at this position of the archive.
std::string zip_directory(const std::vector<ZipEntry>& entries, std::uint64_t position);

/// The checksum of bytes that follow those with the checksum `before`; 0 before the first.
std::uint32_t zip_checksum(std::uint32_t before, const void* bytes, std::size_t size);

}  // namespace sdpa
