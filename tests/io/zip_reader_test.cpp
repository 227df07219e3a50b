#include "io/zip_reader.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"
#include "io/zip_archive.h"

using namespace sdpa;

namespace {

/// What the first member holds, read in two steps.
std::string read_first(std::string_view archive) {
  const auto bytes = bytes_of(archive).bytes;
  const ZipMember member = zip_members(bytes, "a.zip").front();
  ZipReader reader(bytes, member, "a.zip: a");
  std::string content(member.size, '\0');
  const auto out = std::as_writable_bytes(std::span(content));
  reader.read(out.first(content.size() / 2));
  reader.read(out.subspan(content.size() / 2));
  reader.finish();
  return content;
}

std::string error_in(const ZipFile& file) {
  return error_of([&] { read_first(zip_of({file})); });
}

/// A member of 1 + 258 * 3 zeros.
ZipFile deflated() {
  return {"a", deflated_zeros(3), 775, checksum_of(std::string(775, '\0')), 8};
}

}  // namespace

TEST_CASE("zip reader: stored and deflated members, zip64 or not") {
  for (const bool zip64 : {false, true}) {
    CHECK(read_first(zip_of({stored("a", "alpha")}, zip64)) == "alpha");
    CHECK(read_first(zip_of({stored("a", "")}, zip64)) == "");
    CHECK(read_first(zip_of({deflated()}, zip64)) == std::string(775, '\0'));
  }
}

TEST_CASE("zip reader: what is not read says what it is") {
  ZipFile file = deflated();
  file.flags = 1;
  CHECK(error_in(file) == "a.zip: a: is encrypted");
  file.flags = 0;
  file.method = 14;
  CHECK(error_in(file) ==
        "a.zip: a: is packed by LZMA; members that are stored or packed by deflate are read");
  file.method = 9;
  CHECK(error_in(file) ==
        "a.zip: a: is packed by Deflate64; members that are stored or packed by deflate are read");
  file.method = 3;
  CHECK(error_in(file) ==
        "a.zip: a: is packed by method 3; members that are stored or packed by deflate are read");
}

TEST_CASE("zip reader: sizes that are not true are found") {
  ZipFile file = deflated();
  file.size = 776;
  CHECK(error_in(file) == "a.zip: a: claims 776 bytes, but has 775");
  file.size = 774;
  CHECK(error_in(file) == "a.zip: a: claims 774 bytes, but has more");
  file.size = 1'000'000;
  CHECK(error_in(file) == "a.zip: a: claims 1000000 bytes, which " +
                              std::to_string(file.packed.size()) + " packed bytes cannot hold");
  // The most that deflate could make of so many bytes, and one more.
  file.size = 1032 * (file.packed.size() + 1) - 1;
  CHECK(error_in(file) == "a.zip: a: claims " + std::to_string(file.size) + " bytes, but has 775");
  ++file.size;
  CHECK(error_in(file) == "a.zip: a: claims " + std::to_string(file.size) + " bytes, which " +
                              std::to_string(file.packed.size()) + " packed bytes cannot hold");
  ZipFile plain = stored("a", "alpha");
  plain.size = 4;
  CHECK(error_in(plain) == "a.zip: a: claims 4 bytes, which 5 packed bytes cannot hold");
}

TEST_CASE("zip reader: packed bytes that reach beyond the archive are refused") {
  const std::string archive = zip_of({stored("a", "alpha")});
  const auto bytes = bytes_of(archive).bytes;
  ZipMember member = zip_members(bytes, "a.zip").front();
  const std::size_t left = archive.size() - 30 - 1;  // behind the member's header and its name
  for (const std::size_t size : {left, left + 1}) {
    member.size = member.packed_size = size;
    const std::string error = error_of([&] { ZipReader(bytes, member, "a"); });
    CHECK(error == (size == left
                        ? ""
                        : "a: damaged: its header at byte 0 is followed by fewer than the " +
                              std::to_string(size) + " packed bytes that it should have"));
  }
}

TEST_CASE("zip reader: damaged bytes are found") {
  ZipFile file = deflated();
  file.checksum ^= 1;
  CHECK(error_in(file) == "a.zip: a: damaged: its bytes do not match its checksum");
  file = stored("a", "alpha");
  file.packed[2] = 'x';
  CHECK(error_in(file) == "a.zip: a: damaged: its bytes do not match its checksum");
  file = deflated();
  file.packed[0] = '\7';
  CHECK(error_in(file) == "a.zip: a: damaged: its packed bytes are not deflate's");
  file = deflated();
  file.packed += "x";
  CHECK(error_in(file) == "a.zip: a: damaged: 1 packed bytes are behind the end of what they hold");
  file = deflated();
  file.packed.pop_back();
  CHECK(error_in(file) == "a.zip: a: damaged: its packed bytes do not come to an end");
}

TEST_CASE("zip reader: a member is where the directory says, and what it says") {
  const std::string archive = zip_of({stored("a", "alpha"), stored("b", "beta")});
  const auto error_with = [&](std::size_t position, std::string_view bytes) {
    std::string other = archive;
    other.replace(position, bytes.size(), bytes);
    return error_of([&] { read_first(other); });
  };
  const std::size_t header_at = archive.find("PK\1\2") + 42, size_at = header_at - 22;
  CHECK(error_with(0, "PQ") == "a.zip: a: damaged: its header at byte 0 is not one");
  CHECK(error_with(8, "\10") ==
        "a.zip: a: damaged: its header at byte 0 says method 8, the directory 0");
  CHECK(error_with(30, "c") ==
        "a.zip: a: damaged: its header at byte 0 is that of 'c', not of 'a'");
  CHECK(error_with(header_at, "\7") == "a.zip: a: damaged: its header at byte 7 is not one");
  CHECK(error_with(header_at, "\xff\xff") ==
        "a.zip: a: damaged: its header at byte 65535 is beyond the " +
            std::to_string(archive.size()) + " bytes of the archive");
  CHECK(error_with(size_at, little_endian(5000, 4) + little_endian(5000, 4)) ==
        "a.zip: a: damaged: its header at byte 0 is followed by fewer than the 5000 packed bytes "
        "that it should have");
}
