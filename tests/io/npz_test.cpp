#include "io/npz.h"

#include "catch.h"
#include "io/case.h"
#include "io/child.h"
#include "io/error_of.h"
#include "io/file.h"
#include "io/npy.h"
#include "io/temporary_folder.h"
#include "io/zip_archive.h"

using namespace sdpa;

namespace {

std::string archive() {
  const FileBytes file = read_file(SDPA_SOURCE_DIR "/data/forms/case/deflated.npz");
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

Case read(std::string_view bytes) {
  return case_from(*open_npz(bytes_of(bytes), "c.npz"), {}, "c.npz");
}

std::string error_in(std::string_view bytes) {
  return error_of([&] { read(bytes); });
}

}  // namespace

TEST_CASE("npz: every beginning of an archive is refused") {
  const std::string whole = archive();
  REQUIRE(error_in(whole).empty());
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(!error_in(std::string_view(whole).substr(0, size)).empty());
}

TEST_CASE("npz: a changed byte gives the same arrays or an error, never other numbers") {
  std::string bytes = archive();
  for (char& byte : bytes) {
    const char before = byte;
    byte = static_cast<char>(byte ^ 0x20);
    Case operands;
    if (error_of([&] { operands = read(bytes); }).empty()) {
      CHECK(operands.q.array->at(1) == 2);
      CHECK(operands.k.array->at(3) == 6);
      CHECK(operands.v.array->at(1) == 8);
    }
    byte = before;
  }
}

TEST_CASE("npz: zip64 is read") {
  const std::string one = npy_header(Shape({1, 1}), Dtype::float32) + std::string("\0\0\200\77", 4);
  const std::string archive =
      zip_of({stored("q.npy", one), stored("k.npy", one), stored("v", one)}, true);
  CHECK(read(archive).v.array->at(0) == 1);
}

TEST_CASE("npz: no more of a member is unpacked than its own header announces") {
  // A header that announces 24 bytes, in a block of its own, and 1 GB of zeros behind it.
  constexpr std::uint64_t kRuns = 4'000'000;
  const std::string header = npy_header(Shape({2, 3}), Dtype::float32);
  ZipFile file{"q.npy", std::string(1, '\0'), header.size() + 1 + 258 * kRuns, 0, 8};
  file.packed += little_endian(header.size(), 2) + little_endian(~header.size(), 2) + header;
  file.packed += deflated_zeros(kRuns);
  const std::string archive = zip_of({file});
  const std::string expected =
      "c.npz: q: 1032000001 bytes of data, shape (2, 3) of float32 needs 24";
  CHECK(error_in(archive) == expected);
  CHECK(peak_memory_of([&] { static_cast<void>(error_in(archive)); }) < 100'000'000);
}

TEST_CASE("npz: a header of absurd length is not unpacked") {
  const std::string beginning = std::string("\x93NUMPY\2\0", 8) + little_endian(1u << 30, 4);
  ZipFile file{"q.npy", std::string(1, '\0'), beginning.size() + 1 + 258 * 4'200'000ull, 0, 8};
  file.packed += little_endian(beginning.size(), 2) + little_endian(~beginning.size(), 2);
  file.packed += beginning + deflated_zeros(4'200'000);
  CHECK(error_in(zip_of({file})) ==
        "c.npz: q: the header has 1073741824 bytes, the most is 1048576");
}

TEST_CASE("npz: a member of fewer bytes than any .npy file has is refused") {
  for (std::size_t size = 0; size < 12; ++size) {
    const std::string bytes = std::string("\x93NUMPY\1\0\377\0\0\0", 12).substr(0, size);
    CHECK(error_in(zip_of({stored("q", bytes)})).starts_with("c.npz: q: "));
  }
}

TEST_CASE("npz: members are named with .npy behind or without, each once") {
  const std::string one = npy_header(Shape({1, 1}), Dtype::float32) + std::string(4, '\0');
  const auto names = open_npz(bytes_of(zip_of({stored("a.npy", one), stored("b", one),
                                               stored("c.npy.npy", one), stored(".npy", one)})),
                              "c.npz")
                         ->names();
  CHECK(names == std::vector<std::string>{"a", "b", "c.npy", ""});
  CHECK(error_in(zip_of({stored("q", one), stored("q.npy", one)})) == "c.npz: q: is given twice");
  CHECK(
      error_in(zip_of({stored("archive/data.pkl", one)})) ==
      "c.npz: is a PyTorch file, which is never unpickled; numpy.savez and safetensors write what "
      "is read");
}

TEST_CASE("npz: a member that is not asked for is not unpacked") {
  const std::string one = npy_header(Shape({1, 1}), Dtype::float32) + std::string(4, '\0');
  const ZipFile damaged{"rest.npy", "?", 100, 0, 8};
  CHECK(error_in(zip_of({stored("q", one), stored("k", one), stored("v", one), damaged})).empty());
}

TEST_CASE("npz: the longest header that is read") {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1)}";
  for (const std::size_t size : {std::size_t{1} << 20, (std::size_t{1} << 20) + 1}) {
    const std::string member = std::string("\x93NUMPY\2\0", 8) + little_endian(size, 4) +
                               dictionary + std::string(size - dictionary.size(), ' ') +
                               std::string(4, '\0');
    CHECK(error_in(zip_of({stored("q", member)})) ==
          (size == 1 << 20 ? "c.npz: member 'k' is missing; there are 'q'"
                           : "c.npz: q: the header has 1048577 bytes, the most is 1048576"));
  }
}
