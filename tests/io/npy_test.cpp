#include "io/npy.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <cstring>

using namespace sdpa;

namespace {

/// A file of format 1.0 with this type and the two-byte numbers 1 and 2.
std::string file_of(std::string_view descr) {
  const std::string dictionary =
      "{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (2,)}";
  std::string file("\x93NUMPY\1\0", 8);
  file += static_cast<char>(dictionary.size());
  return file + '\0' + dictionary + std::string("\1\0\2\0", 4);
}

std::string error_in(std::string_view file, std::optional<Dtype> dtype = {}) {
  return error_of([&] { read_npy(bytes_of(file), "k.npy", dtype); });
}

}  // namespace

TEST_CASE("npy: a void of two bytes is bfloat16 only if the user says so") {
  for (const std::string_view descr : {"'<V2'", "'|V2'", "'>V2'"}) {
    CHECK(error_in(file_of(descr)) ==
          "k.npy: type " + std::string(descr) +
              " is a void, as numpy stores bfloat16; if it is bfloat16, put :bfloat16 behind the "
              "name");
    CHECK(read_npy(bytes_of(file_of(descr)), "k.npy", Dtype::bfloat16).dtype() == Dtype::bfloat16);
  }
  CHECK(error_in(file_of("'<V2'"), Dtype::float16) == "k.npy: holds type '<V2', not float16");
}

TEST_CASE("npy: a type said by the user must be that of the file") {
  CHECK(error_in(file_of("'<i2'"), Dtype::int16).empty());
  CHECK(error_in(file_of("'<i2'"), Dtype::bfloat16) == "k.npy: holds type '<i2', not bfloat16");
}

TEST_CASE("npy: other spellings of a type, taken or not") {
  for (const std::string_view descr : {"'int16'", "'=i2'", "u'<i2'", "'bfloat16'", "\"<u2\""})
    CHECK(error_in(file_of(descr)).empty());
  for (const std::string_view descr : {"'i2'", "'|i2'", "'<<i2'", "'<i02'", "'<i2 '", "''", "'<'",
                                       "'f16'", "'short'", "'<V02'", "'(2,)<i1'"})
    CHECK(!error_in(file_of(descr)).empty());
}

TEST_CASE("npy: every beginning of a file is refused") {
  const std::string file = file_of("'<i2'");
  CHECK(error_in(file).empty());
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK(!error_in(std::string_view(file).substr(0, size)).empty());
}

TEST_CASE("npy: the header as numpy 1.24 writes it, byte for byte") {
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(npy_header(Shape({2, 3}), Dtype::float32) ==
        std::string("\x93NUMPY\1\0\x76\0", 10) + dictionary +
            std::string(128 - 10 - dictionary.size() - 1, ' ') + "\n");
  CHECK(npy_header(Shape({5}), Dtype::bfloat16).find("'<V2'") != std::string::npos);
  CHECK(npy_header(Shape(), Dtype::float64).find("'shape': (), }") != std::string::npos);
}

TEST_CASE("npy: a header of the most axes is padded to 64 bytes and read back") {
  for (Index axes = 0; axes <= 32; ++axes) {
    const Shape shape(std::vector<Index>(static_cast<std::size_t>(axes), 1));
    const std::string header = npy_header(shape, Dtype::float64);
    CHECK(header.size() % 64 == 0);
    CHECK(read_npy(bytes_of(header + std::string(8, '\0')), "k").shape() == shape);
  }
}
