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

TEST_CASE("npy: a void of two bytes is bfloat16, or what the user says") {
  for (const std::string_view descr : {"'<V2'", "'|V2'", "'>V2'"}) {
    const std::string file = file_of(descr);
    const double smallest = descr[1] == '>' ? 0x1p-125 : 0x1p-133;  // of the bits 0100 and 0001
    for (const std::optional<Dtype> dtype : {std::optional<Dtype>(), {Dtype::bfloat16}}) {
      const Array array = read_npy(bytes_of(file), "k.npy", dtype);
      CHECK(array.dtype() == Dtype::bfloat16);
      CHECK(array.at(0) == smallest);
    }
    CHECK(read_npy(bytes_of(file), "k.npy", Dtype::float16).dtype() == Dtype::float16);
  }
}

TEST_CASE("npy: 16-bit integers are bits of a float if the user says so") {
  // 0001 is 2^-24 as float16 and 2^-133 as bfloat16, 0100 is 2^-16 and 2^-125.
  for (const std::string_view descr : {"'<i2'", "'<u2'", "'int16'", "'uint16'"}) {
    const std::string file = file_of(descr);
    CHECK(read_npy(bytes_of(file), "k.npy").at(1) == 2);
    CHECK(read_npy(bytes_of(file), "k.npy", Dtype::float16).at(1) == 0x2p-24);
    CHECK(read_npy(bytes_of(file), "k.npy", Dtype::bfloat16).at(1) == 0x2p-133);
  }
  for (const std::string_view descr : {"'>i2'", "'>u2'"}) {
    const std::string file = file_of(descr);
    CHECK(read_npy(bytes_of(file), "k.npy").at(1) == 0x200);
    CHECK(read_npy(bytes_of(file), "k.npy", Dtype::float16).at(0) == 0x1p-16);
    CHECK(read_npy(bytes_of(file), "k.npy", Dtype::bfloat16).at(0) == 0x1p-125);
  }
}

TEST_CASE("npy: bits in Fortran order are put into C order, big-endian too") {
  // The bits 3f80, 4000, 4040 ... are 1, 2, 3 ... as bfloat16; in Fortran order 1, 4, 2, 5, 3, 6.
  const std::string little("\x80\x3f\x80\x40\0\x40\xa0\x40\x40\x40\xc0\x40", 12);
  std::string big = little;
  for (std::size_t i = 0; i < big.size(); i += 2) std::swap(big[i], big[i + 1]);
  for (const std::string descr : {"<V2", "|V2", ">V2", "<u2", ">u2", "<i2", ">i2"}) {
    const std::string dictionary =
        "{'descr': '" + descr + "', 'fortran_order': True, 'shape': (2, 3)}";
    std::string file("\x93NUMPY\1\0", 8);
    file += static_cast<char>(dictionary.size());
    file += '\0' + dictionary + (descr[0] == '>' ? big : little);
    const Array array = read_npy(bytes_of(file), "k.npy", Dtype::bfloat16);
    for (Index i = 0; i < 6; ++i) CHECK(array.at(i) == static_cast<double>(i + 1));
  }
}

TEST_CASE("npy: a type said by the user must be that of the file") {
  CHECK(error_in(file_of("'<i2'"), Dtype::int16).empty());
}

TEST_CASE("npy: other spellings of a type, taken or not") {
  for (const std::string_view descr : {"'int16'", "'=i2'", "u'<i2'", "'bfloat16'", "\"<u2\""})
    CHECK(error_in(file_of(descr)).empty());
  for (const std::string_view descr : {"'i2'", "'|i2'", "'<<i2'", "'<i02'", "'<i2 '", "''", "'<'",
                                       "'f16'", "'short'", "'<V02'", "'(2,)<i1'"})
    CHECK(!error_in(file_of(descr)).empty());
}

TEST_CASE("npy: a type that is not taken says what it is, where that is known") {
  CHECK(error_in(file_of("'<U3'")) == "k.npy: type '<U3' is not taken: texts, not numbers");
  CHECK(error_in(file_of("'<m8[s]'")) == "k.npy: type '<m8[s]' is not taken: times, not numbers");
  CHECK(error_in(file_of("'<f16'")) ==
        "k.npy: type '<f16' is not taken: long double, which float64 does not hold");
  CHECK(error_in(file_of("'Short'")) == "k.npy: type 'Short' is not taken");
  CHECK(error_in(file_of("'my'")) == "k.npy: type 'my' is not taken");
}

TEST_CASE("npy: every beginning of a file is refused, and says what is missing") {
  const std::string file = file_of("'<i2'");
  CHECK(error_in(file).empty());
  const std::size_t data = file.size() - 4;
  const auto says = [&](std::size_t size) {
    if (size < 6) return std::string("does not begin as a .npy file does");
    if (size < 8)
      return "ends within the first 8 bytes of a .npy file, after " + std::to_string(size);
    if (size < 10) return std::string("ends within the length of the header");
    if (size < data)
      return "the header should have " + std::to_string(data - 10) + " bytes, the file has " +
             std::to_string(size - 10) + " left";
    return std::to_string(size - data) + " bytes of data, shape (2,) of int16 needs 4";
  };
  for (std::size_t size = 0; size < file.size(); ++size)
    CHECK(error_in(std::string_view(file).substr(0, size)) == "k.npy: " + says(size));
}

TEST_CASE("npy: formats 1.0 and 2.0 are those of Python 2, whose integers may end in L") {
  const std::string dictionary = "{'descr': '<i2', 'fortran_order': False, 'shape': (2L,)}";
  for (const char format : {'\1', '\2', '\3'}) {
    std::string file = std::string("\x93NUMPY") + format + '\0';
    file += static_cast<char>(dictionary.size());
    file += std::string(format == '\1' ? 1 : 3, '\0') + dictionary + std::string("\1\0\2\0", 4);
    CHECK(error_in(file).empty() == (format < '\3'));
  }
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
