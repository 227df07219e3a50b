#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A member of an archive as it will be written, whether it is right or not.
struct ZipFile {
  std::string name;
  std::string packed;
  std::uint64_t size = 0;  ///< claimed
  std::uint32_t checksum = 0;
  int method = 0;
  int flags = 0;
};

/// Integers of a fixed number of bytes, least significant first.
inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

inline std::uint32_t checksum_of(std::string_view bytes) {
  std::uint32_t sum = 0xffffffff;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum;
}

inline ZipFile stored(std::string_view name, std::string_view bytes) {
  return {std::string(name), std::string(bytes), bytes.size(), checksum_of(bytes)};
}

/// Of a zero byte, and then 258 more so many times, as deflate writes it.
inline std::string deflated_zeros(std::uint64_t runs) {
  std::string packed;
  std::uint64_t bits = 0;
  int count = 0;
  // Bits of a code, the first of them lowest.
  const auto add = [&](std::uint64_t code, int size) {
    bits |= code << count;
    for (count += size; count >= 8; count -= 8, bits >>= 8)
      packed += static_cast<char>(bits & 0xff);
  };
  add(0b011, 3);       // the last block, of fixed codes
  add(0b00001100, 8);  // the byte 0
  for (std::uint64_t i = 0; i < runs; ++i) add(0b00000'10100011, 13);  // length 258, distance 1
  add(0, 7);                                                           // the end of the block
  add(0, 7);                                                           // of the byte
  return packed;
}

/// The archive; with zip64 every number that can stand in a zip64 field does.
inline std::string zip_of(const std::vector<ZipFile>& files, bool zip64 = false) {
  std::string archive, directory;
  constexpr std::uint64_t kElsewhere = 0xffffffff;
  for (const ZipFile& file : files) {
    const std::string common = little_endian(static_cast<std::uint64_t>(file.flags), 2) +
                               little_endian(static_cast<std::uint64_t>(file.method), 2) +
                               std::string(4, '\0') + little_endian(file.checksum, 4);
    const auto sizes = [&](int bytes) {
      return zip64 && bytes == 4
                 ? std::string(8, '\xff')
                 : little_endian(file.packed.size(), bytes) + little_endian(file.size, bytes);
    };
    std::string extra, local_extra;
    if (zip64) {
      const std::string both = little_endian(file.size, 8) + little_endian(file.packed.size(), 8);
      local_extra = std::string("\1\0\20\0", 4) + both;
      extra = std::string("UT\1\0x", 5) + std::string("\1\0\30\0", 4) + both +
              little_endian(archive.size(), 8);
    }
    directory += std::string("PK\1\2\24\0\24\0", 8) + common + sizes(4) +
                 little_endian(file.name.size(), 2) + little_endian(extra.size(), 2) +
                 std::string(10, '\0') + little_endian(zip64 ? kElsewhere : archive.size(), 4) +
                 file.name + extra;
    archive += std::string("PK\3\4\24\0", 6) + common + sizes(4) +
               little_endian(file.name.size(), 2) + little_endian(local_extra.size(), 2) +
               file.name + local_extra + file.packed;
  }
  const std::size_t begin = archive.size();
  archive += directory;
  const std::string end_64 = "PK\6\6" + little_endian(44, 8) + std::string("\55\0\55\0", 4) +
                             std::string(8, '\0') + little_endian(files.size(), 8) +
                             little_endian(files.size(), 8) + little_endian(directory.size(), 8) +
                             little_endian(begin, 8) + "PK\6\7" + std::string(4, '\0') +
                             little_endian(archive.size(), 8) + little_endian(1, 4);
  const std::string end = std::string("PK\5\6\0\0\0\0", 8) + little_endian(files.size(), 2) +
                          little_endian(files.size(), 2) + little_endian(directory.size(), 4) +
                          little_endian(begin, 4);
  if (zip64) return archive + end_64 + "PK\5\6" + std::string(16, '\xff') + std::string(2, '\0');
  return archive + end + std::string(2, '\0');
}
