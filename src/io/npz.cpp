#include "io/npz.h"

#include "base/error.h"
#include "io/npy.h"
#include "io/quote.h"

#include <zip.h>

#include <memory>
#include <string>

namespace sdpa {

namespace {

using Archive = std::unique_ptr<zip_t, void (*)(zip_t*)>;

Archive open_archive(std::span<const std::byte> bytes, std::string_view place) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* archive = source != nullptr
                       ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error)
                       : nullptr;
  if (archive == nullptr) {
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (source != nullptr) zip_source_free(source);
    throw Error(place, "damaged zip archive: " + printable(reason));
  }
  return {archive, zip_discard};
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

/// Sizes of a member, found possible.
zip_stat_t checked_sizes(zip_t* archive, zip_uint64_t index, const std::string& place) {
  zip_stat_t status;
  constexpr zip_uint64_t kNeeded =
      ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (zip_stat_index(archive, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded)
    throw Error(place, "damaged zip archive: " + printable(zip_strerror(archive)));
  if (status.encryption_method != ZIP_EM_NONE) throw Error(place, "is encrypted");
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
    throw Error(place, "is packed by method " + std::to_string(status.comp_method) +
                           "; 0 (stored) and 8 (deflate) are read");

  // Deflate makes at most 258 bytes of two bits.
  constexpr zip_uint64_t kLargestRatio = 1032;
  const bool stored = status.comp_method == ZIP_CM_STORE;
  if (stored ? status.size != status.comp_size : status.size / kLargestRatio > status.comp_size)
    throw Error(place, "claims " + std::to_string(status.size) + " bytes, which " +
                           std::to_string(status.comp_size) + " packed bytes cannot hold");
  return status;
}

FileBytes unpacked(zip_t* archive, zip_uint64_t index, zip_uint64_t size,
                   const std::string& place) {
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> member(zip_fopen_index(archive, index, 0),
                                                                 zip_fclose);
  if (!member) throw Error(place, "damaged zip archive: " + printable(zip_strerror(archive)));
  const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
  zip_uint64_t done = 0;
  zip_int64_t count = 0;
  do {
    count = zip_fread(member.get(), memory.get() + done, size - done);
    if (count > 0) done += static_cast<zip_uint64_t>(count);
  } while (count > 0 && done < size);
  // The checksum is compared when the end is seen, behind the last byte.
  std::byte more;
  if (count >= 0 && done == size) count = zip_fread(member.get(), &more, 1);
  if (count < 0) throw Error(place, "damaged: " + printable(zip_file_strerror(member.get())));
  if (count > 0 || done < size)
    throw Error(place, "claims " + std::to_string(size) + " bytes, but has " +
                           (count > 0 ? "more" : std::to_string(done)));
  return {memory, {memory.get(), static_cast<std::size_t>(size)}};
}

}  // namespace

bool is_zip(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06");
}

Case read_npz_case(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype) {
  const Archive archive = open_archive(file.bytes, place);
  constexpr std::string_view kNames[] = {"q", "k", "v"};
  std::optional<Array> operands[3];
  zip_uint64_t packed_bytes = 0;

  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(count); ++index) {
    const char* member = zip_get_name(archive.get(), index, ZIP_FL_ENC_RAW);
    const int operand = operand_of(member != nullptr ? member : "", place);
    const std::string member_place = std::string(place) + ": " + std::string(kNames[operand]);
    if (operands[operand]) throw Error(member_place, "is given twice");

    const zip_stat_t status = checked_sizes(archive.get(), index, member_place);
    packed_bytes += status.comp_size;
    if (status.comp_size > file.bytes.size() || packed_bytes > file.bytes.size())
      throw Error(place, "members overlap: they claim more packed bytes than the " +
                             std::to_string(file.bytes.size()) + " of the archive");
    const FileBytes bytes = unpacked(archive.get(), index, status.size, member_place);
    operands[operand] = read_npy(bytes, member_place, dtype);
  }
  for (int operand = 0; operand < 3; ++operand)
    if (!operands[operand])
      throw Error(place, "member " + in_quotes(kNames[operand]) + " is missing");
  return {*operands[0], *operands[1], *operands[2]};
}

}  // namespace sdpa
