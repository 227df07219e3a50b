#include "io/zip_directory.h"

#include "base/error.h"
#include "io/quote.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace sdpa {

namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void throw_damaged(std::string_view place, const std::string& what) {
  throw Error(place, "damaged zip archive: " + what);
}

/// The little-endian number at this position of a record that is long enough.
template <class Unsigned>
Unsigned number_at(Bytes record, std::size_t position) {
  Unsigned number;
  std::memcpy(&number, record.data() + position, sizeof number);
  return number;
}

bool has_signature(Bytes record, std::string_view signature) {
  return record.size() >= signature.size() &&
         std::memcmp(record.data(), signature.data(), signature.size()) == 0;
}

[[noreturn]] void refuse_part(std::string_view place) {
  throw Error(place, "is one part of a zip archive in several, which are to be joined first");
}

constexpr std::uint64_t kIn64Bits = 0xffffffff;  // in place of a number that zip64 holds elsewhere

/// Where the directory is, and what it has to end before.
struct Directory {
  std::uint64_t offset, size, count;
  std::size_t end;
};

/// The last record of an archive: 22 bytes, and a comment as long as they say.
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLongestComment = 0xffff;

std::size_t end_record(Bytes archive, std::string_view place) {
  std::optional<std::size_t> behind;
  const std::size_t most = std::min(archive.size(), kEndBytes + kLongestComment);
  for (std::size_t back = kEndBytes; back <= most; ++back) {
    const Bytes record = archive.last(back);
    if (!has_signature(record, "PK\5\6")) continue;
    const std::size_t size = kEndBytes + number_at<std::uint16_t>(record, 20);
    if (size == back) return archive.size() - back;
    if (size < back && !behind) behind = back - size;
  }
  if (behind)
    throw Error(place,
                "is a zip archive with " + std::to_string(*behind) + " bytes behind its end");
  if (has_signature(archive, "PK\7\10")) refuse_part(place);
  throw Error(place,
              "is a zip archive without its end, where the directory is; it seems to be cut off");
}

/// Of zip64, in which larger numbers stand in a record of their own.
std::optional<Directory> directory_64(Bytes archive, std::size_t end, std::string_view place) {
  constexpr std::size_t kLocatorBytes = 20, kRecordBytes = 56;
  if (end < kLocatorBytes) return std::nullopt;
  const Bytes locator = archive.subspan(end - kLocatorBytes, kLocatorBytes);
  if (!has_signature(locator, "PK\6\7")) return std::nullopt;
  if (number_at<std::uint32_t>(locator, 16) > 1) refuse_part(place);
  const auto offset = number_at<std::uint64_t>(locator, 8);
  const std::size_t last = end - kLocatorBytes;
  if (last < kRecordBytes || offset > last - kRecordBytes)
    throw_damaged(place, "the zip64 record should be at byte " + std::to_string(offset) + " of " +
                             std::to_string(archive.size()));
  const Bytes record = archive.subspan(offset, kRecordBytes);
  if (!has_signature(record, "PK\6\6"))
    throw_damaged(place, "there is no zip64 record at byte " + std::to_string(offset));
  if (number_at<std::uint32_t>(record, 16) != 0 || number_at<std::uint32_t>(record, 20) != 0)
    refuse_part(place);
  return Directory{number_at<std::uint64_t>(record, 48), number_at<std::uint64_t>(record, 40),
                   number_at<std::uint64_t>(record, 32), offset};
}

Directory directory_of(Bytes archive, std::string_view place) {
  const std::size_t end = end_record(archive, place);
  if (const auto directory = directory_64(archive, end, place)) return *directory;
  const Bytes record = archive.subspan(end, kEndBytes);
  const auto count = number_at<std::uint16_t>(record, 10);
  if (number_at<std::uint16_t>(record, 4) != 0 || number_at<std::uint16_t>(record, 6) != 0 ||
      number_at<std::uint16_t>(record, 8) != count)
    refuse_part(place);
  return {number_at<std::uint32_t>(record, 16), number_at<std::uint32_t>(record, 12), count, end};
}

/// Takes the numbers that zip64 holds from the extra field of a directory entry: those that are
/// kIn64Bits, in this order.
void read_zip64(Bytes extra, ZipMember& member, std::string_view place) {
  Bytes field;
  while (extra.size() >= 4) {
    const std::size_t size = number_at<std::uint16_t>(extra, 2);
    if (size > extra.size() - 4) break;
    if (number_at<std::uint16_t>(extra, 0) == 1) field = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
  }
  for (std::uint64_t* number : {&member.size, &member.packed_size, &member.header}) {
    if (*number != kIn64Bits) continue;
    if (field.size() < 8)
      throw_damaged(place, "the zip64 numbers of " + in_quotes(member.name) + " are missing");
    *number = number_at<std::uint64_t>(field, 0);
    field = field.subspan(8);
  }
}

}  // namespace

bool is_zip(Bytes bytes) {
  for (const std::string_view signature : {"PK\3\4", "PK\5\6", "PK\7\10", "PK\6\6"})
    if (has_signature(bytes, signature)) return true;
  return false;
}

std::vector<ZipMember> zip_members(Bytes archive, std::string_view place) {
  const Directory directory = directory_of(archive, place);
  if (directory.offset > directory.end || directory.size > directory.end - directory.offset)
    throw_damaged(place, "its directory should be " + std::to_string(directory.size) +
                             " bytes from byte " + std::to_string(directory.offset) +
                             ", but has to end before byte " + std::to_string(directory.end));
  Bytes rest = archive.subspan(directory.offset, directory.size);
  std::vector<ZipMember> members;
  constexpr std::size_t kEntryBytes = 46;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    const auto damaged = [&] {
      throw_damaged(place, "entry " + std::to_string(i) + " of its directory, which has " +
                               std::to_string(directory.count) + ", is not one");
    };
    if (rest.size() < kEntryBytes || !has_signature(rest, "PK\1\2")) damaged();
    const std::size_t name_size = number_at<std::uint16_t>(rest, 28);
    const std::size_t extra_size = number_at<std::uint16_t>(rest, 30);
    const std::size_t size =
        kEntryBytes + name_size + extra_size + number_at<std::uint16_t>(rest, 32);
    if (size > rest.size()) damaged();

    ZipMember member;
    member.name.assign(reinterpret_cast<const char*>(rest.data()) + kEntryBytes, name_size);
    member.flags = number_at<std::uint16_t>(rest, 8);
    member.method = number_at<std::uint16_t>(rest, 10);
    member.checksum = number_at<std::uint32_t>(rest, 16);
    member.packed_size = number_at<std::uint32_t>(rest, 20);
    member.size = number_at<std::uint32_t>(rest, 24);
    if (const auto disk = number_at<std::uint16_t>(rest, 34); disk != 0 && disk != 0xffff)
      refuse_part(place);
    member.header = number_at<std::uint32_t>(rest, 42);
    read_zip64(rest.subspan(kEntryBytes + name_size, extra_size), member, place);
    members.push_back(std::move(member));
    rest = rest.subspan(size);
  }
  if (!rest.empty())
    throw_damaged(place, std::to_string(rest.size()) + " bytes follow the " +
                             std::to_string(directory.count) + " entries of its directory");
  return members;
}

}  // namespace sdpa
