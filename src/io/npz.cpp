#include "io/npz.h"

#include "base/error.h"
#include "io/npy.h"
#include "io/quote.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

namespace sdpa {

namespace {

/// An archive in memory, as minizip reads it: where it is, and where reading goes on.
struct Stream {
  std::span<const std::byte> bytes;
  std::size_t position = 0;
};

voidpf open_stream(voidpf stream, const void*, int) {
  return stream;
}

uLong read_stream(voidpf, voidpf stream, void* to, uLong size) {
  Stream& s = *static_cast<Stream*>(stream);
  const auto count = std::min<std::size_t>(size, s.bytes.size() - s.position);
  std::memcpy(to, s.bytes.data() + s.position, count);
  s.position += count;
  return count;
}

ZPOS64_T tell_stream(voidpf, voidpf stream) {
  return static_cast<Stream*>(stream)->position;
}

/// 0, or -1 for a position outside of the archive.
long seek_stream(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  Stream& s = *static_cast<Stream*>(stream);
  const std::size_t from = origin == ZLIB_FILEFUNC_SEEK_END   ? s.bytes.size()
                           : origin == ZLIB_FILEFUNC_SEEK_CUR ? s.position
                                                              : 0;
  if (offset > s.bytes.size() - from) return -1;
  s.position = from + offset;
  return 0;
}

int end_stream(voidpf, voidpf) {
  return 0;
}

using Archive = std::unique_ptr<void, int (*)(unzFile)>;

[[noreturn]] void throw_damaged(std::string_view place) {
  throw Error(place, "damaged zip archive");
}

/// Whether the last record of the archive, 22 bytes and a comment, ends where the bytes do.
bool ends_whole(unzFile archive, std::span<const std::byte> bytes) {
  unz_global_info64 info;
  if (unzGetGlobalInfo64(archive, &info) != UNZ_OK) return false;
  const std::size_t record = 22 + info.size_comment;
  return record <= bytes.size() &&
         std::memcmp(bytes.data() + (bytes.size() - record), "PK\x05\x06", 4) == 0;
}

/// The stream must outlive the archive.
Archive open_archive(Stream& stream, std::string_view place) {
  zlib_filefunc64_def functions = {open_stream, read_stream, nullptr,    tell_stream,
                                   seek_stream, end_stream,  end_stream, &stream};
  Archive archive(unzOpen2_64(nullptr, &functions), unzClose);
  if (archive == nullptr) throw Error(place, "damaged or empty zip archive");
  if (!ends_whole(archive.get(), stream.bytes)) throw_damaged(place);
  return archive;
}

/// q, k or v as a position, of a member called so, or so with .npy behind.
int operand_of(std::string_view member, std::string_view place) {
  const std::string_view name =
      member.ends_with(".npy") ? member.substr(0, member.size() - 4) : member;
  if (name == "q") return 0;
  if (name == "k") return 1;
  if (name == "v") return 2;
  throw Error(place, "member " + in_quotes(member) + " is not one of 'q', 'k' and 'v'");
}

/// The current member, of which only the beginning of a long name is kept.
struct Member {
  unz_file_info64 info;
  std::string name;
};

Member current_member(unzFile archive, std::string_view place) {
  Member member;
  char name[64];
  if (unzGetCurrentFileInfo64(archive, &member.info, name, sizeof name, nullptr, 0, nullptr, 0) !=
      UNZ_OK)
    throw_damaged(place);
  member.name.assign(name, std::min<std::size_t>(member.info.size_filename, sizeof name));
  return member;
}

void check_sizes(const unz_file_info64& info, std::string_view place) {
  constexpr uLong kEncrypted = 1, kStored = 0;
  if ((info.flag & kEncrypted) != 0) throw Error(place, "is encrypted");
  if (info.compression_method != kStored && info.compression_method != Z_DEFLATED)
    throw Error(place, "is packed by method " + std::to_string(info.compression_method) +
                           "; 0 (stored) and 8 (deflate) are read");

  // Deflate makes at most 258 bytes of two bits.
  constexpr ZPOS64_T kLargestRatio = 1032;
  if (info.compression_method == kStored
          ? info.uncompressed_size != info.compressed_size
          : info.uncompressed_size / kLargestRatio > info.compressed_size)
    throw Error(place, "claims " + std::to_string(info.uncompressed_size) + " bytes, which " +
                           std::to_string(info.compressed_size) + " packed bytes cannot hold");
}

FileBytes unpacked(unzFile archive, ZPOS64_T size, std::string_view place) {
  if (unzOpenCurrentFile(archive) != UNZ_OK) throw_damaged(place);
  const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
  constexpr ZPOS64_T kAtOnce = 1 << 30;
  ZPOS64_T done = 0;
  int count = 1;
  while (count > 0 && done < size) {
    count = unzReadCurrentFile(archive, memory.get() + done,
                               static_cast<unsigned>(std::min(kAtOnce, size - done)));
    if (count > 0) done += static_cast<ZPOS64_T>(count);
  }
  const int closed = unzCloseCurrentFile(archive);
  if (count < 0) throw Error(place, "damaged: its packed bytes are not deflate's");
  if (done < size)
    throw Error(place,
                "claims " + std::to_string(size) + " bytes, but has " + std::to_string(done));
  if (closed != UNZ_OK) throw Error(place, "damaged: its bytes do not match its checksum");
  return {memory, {memory.get(), static_cast<std::size_t>(size)}};
}

}  // namespace

bool is_zip(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06");
}

Case read_npz_case(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype) {
  Stream stream{file.bytes};
  const Archive archive = open_archive(stream, place);
  constexpr std::string_view kNames[] = {"q", "k", "v"};
  std::optional<Array> operands[3];
  ZPOS64_T packed_bytes = 0;

  int found = unzGoToFirstFile(archive.get());
  for (; found == UNZ_OK; found = unzGoToNextFile(archive.get())) {
    const Member member = current_member(archive.get(), place);
    const int operand = operand_of(member.name, place);
    const std::string member_place = std::string(place) + ": " + std::string(kNames[operand]);
    if (operands[operand]) throw Error(member_place, "is given twice");

    check_sizes(member.info, member_place);
    packed_bytes += member.info.compressed_size;
    if (member.info.compressed_size > file.bytes.size() || packed_bytes > file.bytes.size())
      throw Error(place, "members overlap: they claim more packed bytes than the " +
                             std::to_string(file.bytes.size()) + " of the archive");
    operands[operand] = read_npy(
        unpacked(archive.get(), member.info.uncompressed_size, member_place), member_place, dtype);
  }
  if (found != UNZ_END_OF_LIST_OF_FILE) throw_damaged(place);
  for (int operand = 0; operand < 3; ++operand)
    if (!operands[operand])
      throw Error(place, "member " + in_quotes(kNames[operand]) + " is missing");
  return {*operands[0], *operands[1], *operands[2]};
}

}  // namespace sdpa
