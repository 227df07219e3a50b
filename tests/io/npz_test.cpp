#include "io/npz.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/file.h"
#include "io/temporary_folder.h"

using namespace sdpa;

namespace {

std::string archive() {
  const FileBytes file = read_file(SDPA_SOURCE_DIR "/data/forms/case/deflated.npz");
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

std::string error_in(std::string_view bytes) {
  return error_of([&] { read_npz_case(bytes_of(bytes), "c.npz"); });
}

}  // namespace

TEST_CASE("npz: an archive is known by its first bytes") {
  CHECK(is_zip(bytes_of(archive()).bytes));
  CHECK(!is_zip(bytes_of("PK").bytes));
}

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
    if (error_of([&] { operands = read_npz_case(bytes_of(bytes), "c.npz"); }).empty()) {
      CHECK(operands.q.at(1) == 2);
      CHECK(operands.k.at(3) == 6);
      CHECK(operands.v.at(1) == 8);
    }
    byte = before;
  }
}

TEST_CASE("npz: a type behind the name must be that of the members") {
  CHECK(error_of([&] { read_npz_case(bytes_of(archive()), "c.npz", Dtype::bfloat16); }) ==
        "c.npz: v: holds type '<f4', not bfloat16");
}
