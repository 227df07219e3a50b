#include "io/raw.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/npy.h"
#include "io/temporary_folder.h"

using namespace sdpa;

namespace {

std::string error_in(const std::string& text, Dtype dtype, const Shape& shape) {
  return error_of([&] { read_raw(bytes_of(text), dtype, shape, "q.bin"); });
}

}  // namespace

TEST_CASE("raw: numbers in C order, little-endian") {
  alignas(8) const char text[] = "\x80\x3f\x00\x40\x40\x40\x80\x40";
  const Array array = read_raw(bytes_of({text, 8}), Dtype::bfloat16, Shape({2, 2}), "q.bin");
  CHECK(array.at(0) == 1);
  CHECK(array.at(1) == 2);
  CHECK(array.at(2) == 3);
  CHECK(array.at(3) == 4);
  CHECK(array.data() == reinterpret_cast<const std::byte*>(text));
}

TEST_CASE("raw: a wrong size gives both, and what would fit") {
  CHECK(error_in(std::string(16384, '\0'), Dtype::float32, Shape({128, 64})) ==
        "q.bin: 16384 bytes, shape (128, 64) of float32 needs 32768; they would fit as float16, as "
        "bfloat16, as 64x64 or as 128x32");
  CHECK(error_in(std::string(98304, '\0'), Dtype::float32, Shape({128, 64})) ==
        "q.bin: 98304 bytes, shape (128, 64) of float32 needs 32768; they would fit as 384x64, as "
        "128x192 or as 3x128x64");
  CHECK(error_in("abc", Dtype::float32, Shape({2, 2})) ==
        "q.bin: 3 bytes, shape (2, 2) of float32 needs 16");
  CHECK(error_in(std::string(44, '\0'), Dtype::float32, Shape({3, 4})) ==
        "q.bin: 44 bytes, shape (3, 4) of float32 needs 48");
  CHECK(error_in("", Dtype::float32, Shape({2, 2})) ==
        "q.bin: 0 bytes, shape (2, 2) of float32 needs 16");
  CHECK(error_in("abcd", Dtype::float32, Shape({0, 2})) ==
        "q.bin: 4 bytes, shape (0, 2) of float32 needs 0");
  CHECK(error_in("abcd", Dtype::float32, Shape({5})) ==
        "q.bin: 4 bytes, shape (5,) of float32 needs 20; they would fit as 1");
}

TEST_CASE("raw: one byte too many or too few is a wrong size, whatever the type") {
  for (const Dtype dtype : {Dtype::float16, Dtype::float32, Dtype::float64, Dtype::int8}) {
    const std::string needed = std::to_string(6 * size_bytes(dtype));
    for (const Index more : {-1, 1}) {
      const auto size = static_cast<std::size_t>(6 * size_bytes(dtype) + more);
      CHECK(error_in(std::string(size, '\0'), dtype, Shape({2, 3}))
                .starts_with("q.bin: " + std::to_string(size) + " bytes, shape (2, 3) of " +
                             std::string(name(dtype)) + " needs " + needed));
    }
  }
  CHECK(error_in("x", Dtype::int8, Shape({0})) == "q.bin: 1 bytes, shape (0,) of int8 needs 0");
}

TEST_CASE("raw: a .npy file is not taken for raw numbers, even if its size fits") {
  const std::string file = npy_header(Shape({1, 16}), Dtype::float32) + std::string(64, '\0');
  REQUIRE(file.size() == 192);
  CHECK(error_in(file, Dtype::float32, Shape({3, 16})) ==
        "q.bin: is a .npy file, which says its type and shape itself; leave out :float32:3x16");
}
