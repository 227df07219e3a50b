#include "io/hex.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <cmath>
#include <string>

using namespace sdpa;

namespace {

Array read(std::string_view text, Dtype dtype, const Shape& shape) {
  return read_hex(bytes_of(text).bytes, dtype, shape, "q.mem");
}

std::string error_in(std::string_view text, Dtype dtype = Dtype::int8,
                     const Shape& shape = Shape({2})) {
  return error_of([&] { read(text, dtype, shape); });
}

}  // namespace

TEST_CASE("hex: words of one or several a line, most significant digit first") {
  const Array bytes =
      read("7f\n80 // minus 128\n/* two\nlines */ F 0xff", Dtype::int8, Shape({2, 2}));
  CHECK(bytes.shape() == Shape({2, 2}));
  CHECK(bytes.at(0) == 127);
  CHECK(bytes.at(1) == -128);
  CHECK(bytes.at(2) == 15);
  CHECK(bytes.at(3) == -1);
  CHECK(read("3C00, C000", Dtype::float16, Shape({2})).at(1) == -2);
  CHECK(read("3f80_0000 7f800000", Dtype::float32, Shape({2})).at(0) == 1);
  CHECK(read("3f80", Dtype::bfloat16, Shape({1})).at(0) == 1);
  CHECK(read("1234", Dtype::uint16, Shape({1})).at(0) == 0x1234);
  CHECK(read("", Dtype::int8, Shape({0})).shape() == Shape({0}));
  CHECK(read("7f//x\n01/**/", Dtype::int8, Shape({2})).at(1) == 1);
}

TEST_CASE("hex: addresses must go on where the words end") {
  CHECK(read("@00000000\n01 02\n@2 03", Dtype::int8, Shape({3})).at(2) == 3);
  CHECK(read("@100 01\n@101\n02", Dtype::int8, Shape({2})).at(1) == 2);
  CHECK(error_in("@0 01 @4 02") ==
        "q.mem: line 1: address '@4' does not follow the 1 words before it");
  CHECK(error_in("01\n@0 02") ==
        "q.mem: line 2: address '@0' does not follow the 1 words before it");
  CHECK(error_in("@0 01 02\n@0") ==
        "q.mem: line 2: address '@0' does not follow the 2 words before it");
  CHECK(error_in("@x") == "q.mem: line 1: '@x' is not hexadecimal");
  CHECK(error_in("@") == "q.mem: line 1: '@' is not hexadecimal");
}

TEST_CASE("hex: what is no word of the type is refused") {
  CHECK(error_in("01\nffffffd3") == "q.mem: line 2: 'ffffffd3' has 8 digits, int8 takes 2");
  CHECK(error_in("xx 01") == "q.mem: line 1: 'xx' is not hexadecimal");
  CHECK(error_in("0x 01") == "q.mem: line 1: '0x' is not hexadecimal");
  CHECK(error_in("-1 01") == "q.mem: line 1: '-1' is not hexadecimal");
  CHECK(error_in("01 /* 02") == "q.mem: line 1: the comment has no end");
  CHECK(error_in(std::string_view("01\0 02", 6)) ==
        "q.mem: line 1: a byte of 0, which no text holds");
  CHECK(error_in("01 /02") == "q.mem: line 1: '/02' is not hexadecimal");
  CHECK(error_in("02", Dtype::boolean, Shape({1})) == "q.mem: line 1: '02' is not 0 or 1");
  CHECK(error_in("01 02 03") == "q.mem: 3 words, shape (2,) needs 2; they would fit as 3");
  CHECK(error_in("0020000000000001", Dtype::int64, Shape({1})) ==
        "q.mem: int64 9007199254740993 at [0] is not a value of float64, in which sdpa computes");
}
