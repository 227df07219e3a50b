#include "io/zip_directory.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"
#include "io/zip_archive.h"

using namespace sdpa;

namespace {

const std::vector<ZipFile> kTwo = {stored("a", "alpha"), stored("b.npy", "be")};

std::string error_in(std::string_view archive) {
  return error_of([&] { zip_members(bytes_of(archive).bytes, "a.zip"); });
}

/// The archive with other bytes at a distance from its end.
std::string changed(std::string archive, std::size_t from_end, std::string_view bytes) {
  return archive.replace(archive.size() - from_end, bytes.size(), bytes);
}

}  // namespace

TEST_CASE("zip directory: members in their order, zip64 or not") {
  for (const bool zip64 : {false, true}) {
    const std::string archive = zip_of(kTwo, zip64);
    CHECK(is_zip(bytes_of(archive).bytes));
    const auto members = zip_members(bytes_of(archive).bytes, "a.zip");
    REQUIRE(members.size() == 2);
    CHECK(members[0].name == "a");
    CHECK(members[0].header == 0);
    CHECK(members[1].name == "b.npy");
    CHECK(members[1].size == 2);
    CHECK(members[1].packed_size == 2);
    CHECK(members[1].checksum == checksum_of("be"));
    CHECK(archive.substr(members[1].header, 4) == "PK\3\4");
  }
  CHECK(zip_members(bytes_of(zip_of({})).bytes, "a.zip").empty());
}

TEST_CASE("zip directory: a comment may stand at the end, even one that looks like an end") {
  const std::string archive = zip_of(kTwo);
  for (const std::string comment : {"for people", "PK\5\6 and more than twenty-two bytes"})
    CHECK(error_in(changed(archive, 2, little_endian(comment.size(), 2)) + comment).empty());
}

TEST_CASE("zip directory: an archive that is cut off, or goes on, says so") {
  const std::string archive = zip_of(kTwo);
  const std::string cut =
      "a.zip: is a zip archive without its end, where the directory is; it seems to be cut off";
  CHECK(error_in(archive.substr(0, archive.size() - 1)) == cut);
  CHECK(error_in(archive.substr(0, 10)) == cut);
  CHECK(error_in(archive + "12345") == "a.zip: is a zip archive with 5 bytes behind its end");
  CHECK(error_in(archive.substr(3)).starts_with("a.zip: damaged zip archive: "));
}

TEST_CASE("zip directory: a part of several files is called so") {
  const std::string part =
      "a.zip: is one part of a zip archive in several, which are to be joined first";
  const std::string archive = zip_of(kTwo), archive_64 = zip_of(kTwo, true);
  CHECK(error_in(changed(archive, 18, "\1")) == part);          // it is the second one
  CHECK(error_in(changed(archive, 16, "\1")) == part);          // the directory begins there
  CHECK(error_in(changed(archive, 14, "\1")) == part);          // one of two entries is here
  CHECK(error_in(changed(archive_64, 22 + 4, "\2")) == part);   // of two files
  CHECK(error_in(changed(archive_64, 42 + 40, "\1")) == part);  // it is the second one
  CHECK(error_in("PK\7\10" + archive.substr(0, 50)) == part);   // the first one
}

TEST_CASE("zip directory: what is damaged says where") {
  const std::string archive = zip_of(kTwo), archive_64 = zip_of(kTwo, true);
  const std::string damaged = "a.zip: damaged zip archive: ";
  CHECK(error_in(changed(archive, 6, little_endian(1000, 4))) ==
        damaged +
            "its directory should be 98 bytes from byte 1000, but has to end before byte 171");
  CHECK(error_in(changed(archive, 6, little_endian(72, 4))) ==
        damaged + "entry 0 of its directory, which has 2, is not one");
  CHECK(error_in(changed(archive, 14, std::string("\3\0\3\0", 4))) ==
        damaged + "entry 2 of its directory, which has 3, is not one");
  CHECK(error_in(changed(archive, 14, std::string("\1\0\1\0", 4))) ==
        damaged + "51 bytes follow the 1 entries of its directory");
  CHECK(error_in(changed(archive_64, 22 + 12, little_endian(5, 8))) ==
        damaged + "there is no zip64 record at byte 5");
  CHECK(error_in(changed(archive_64, 22 + 12, std::string(8, '\x7f')))
            .starts_with(damaged + "the zip64 record should be at byte 9187201950435737471 of "));
  const std::size_t extra = archive_64.size() - archive_64.rfind(std::string("\1\0\30\0", 4));
  for (const auto other :
       {std::string_view("\2"), std::string_view("\1\0\27", 3), std::string_view("\1\0\31", 3)})
    CHECK(error_in(changed(archive_64, extra, other)) ==
          damaged + "the zip64 numbers of 'b.npy' are missing");
}

TEST_CASE("zip directory: a comment of any length that 16 bits hold may be behind it") {
  for (const std::size_t size : {1, 255, 256, 300, 65535}) {
    const std::string whole = zip_of(kTwo);
    const std::string archive =
        whole.substr(0, whole.size() - 2) + little_endian(size, 2) + std::string(size, 'c');
    CHECK(zip_members(bytes_of(archive).bytes, "a.zip").size() == 2);
  }
}

TEST_CASE("zip directory: one longer than what is before its end is refused") {
  const std::string archive = zip_of(kTwo);
  // The size of the directory stands 10 bytes before the end, its beginning 6.
  const std::size_t begin = archive.rfind("PK\1\2", archive.rfind("PK\1\2") - 1);
  const std::size_t end = archive.size() - 22, size = end - begin + 1;
  CHECK(error_in(changed(archive, 10, little_endian(size, 4))) ==
        "a.zip: damaged zip archive: its directory should be " + std::to_string(size) +
            " bytes from byte " + std::to_string(begin) + ", but has to end before byte " +
            std::to_string(end));
}
