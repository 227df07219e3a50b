#include "io/zip_writer.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>

namespace sdpa {

namespace {

constexpr std::uint64_t kIn64Bits = 0xffffffff;  // in place of a number that zip64 holds elsewhere
constexpr int kVersion64 = 45;                   // of the format, from which there is zip64
constexpr int kChecksumBehind = 8;               // flag: see zip_descriptor
constexpr int kFirstDay = 1 << 5 | 1;            // 1 January 1980

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

/// The fields that a member's own header and its entry in the directory share.
std::string common(const ZipEntry& entry, std::uint32_t checksum, std::uint64_t size,
                   std::size_t extra) {
  constexpr int kStored = 0, kMidnight = 0;
  return number(kVersion64, 2) + number(kChecksumBehind, 2) + number(kStored, 2) +
         number(kMidnight, 2) + number(kFirstDay, 2) + number(checksum, 4) + number(size, 4) +
         number(size, 4) + number(entry.name.size(), 2) + number(extra, 2);
}

std::string zip64_field(const std::string& numbers) {
  return numbers.empty() ? "" : number(1, 2) + number(numbers.size(), 2) + numbers;
}

}  // namespace

std::string zip_header(const ZipEntry& entry) {
  const std::string extra = zip64_field(number(entry.size, 8) + number(entry.size, 8));
  return "PK\3\4" + common(entry, 0, kIn64Bits, extra.size()) + entry.name + extra;
}

std::string zip_descriptor(const ZipEntry& entry) {
  return "PK\7\10" + number(entry.checksum, 4) + number(entry.size, 8) + number(entry.size, 8);
}

std::string zip_directory(const std::vector<ZipEntry>& entries, std::uint64_t position) {
  std::string all;
  for (const ZipEntry& entry : entries) {
    std::string large;
    if (entry.size >= kIn64Bits) large += number(entry.size, 8) + number(entry.size, 8);
    if (entry.header >= kIn64Bits) large += number(entry.header, 8);
    const std::string extra = zip64_field(large);
    all += "PK\1\2" + number(kVersion64, 2) +
           common(entry, entry.checksum, std::min(entry.size, kIn64Bits), extra.size());
    all += number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4);  // no comment, one disk
    all += number(std::min(entry.header, kIn64Bits), 4) + entry.name + extra;
  }
  const std::uint64_t size = all.size();
  if (position >= kIn64Bits) {
    const std::uint64_t record = position + size;
    all += "PK\6\6" + number(44, 8) + number(kVersion64, 2) + number(kVersion64, 2) + number(0, 8) +
           number(entries.size(), 8) + number(entries.size(), 8) + number(size, 8) +
           number(position, 8);
    all += "PK\6\7" + number(0, 4) + number(record, 8) + number(1, 4);
  }
  return all + "PK\5\6" + number(0, 4) + number(entries.size(), 2) + number(entries.size(), 2) +
         number(size, 4) + number(std::min(position, kIn64Bits), 4) + number(0, 2);
}

std::uint32_t zip_checksum(std::uint32_t before, const void* bytes, std::size_t size) {
  return static_cast<std::uint32_t>(crc32_z(before, static_cast<const Bytef*>(bytes), size));
}

}  // namespace sdpa
