#include "io/decode.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <cstdint>

using namespace sdpa;

namespace {

template <class Number, std::size_t count>
FileBytes bytes_of_numbers(const Number (&numbers)[count]) {
  return {nullptr, std::as_bytes(std::span(numbers))};
}

std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  for (Index i = 0; i < array.shape().element_count(); ++i) values.push_back(array.at(i));
  return values;
}

std::string exactness_error(std::int64_t value) {
  const std::int64_t numbers[] = {0, value};
  return error_of([&] { decode(bytes_of_numbers(numbers), {Dtype::int64, Shape({1, 2})}, "k"); });
}

}  // namespace

TEST_CASE("decode: numbers that lie as in an array stay where they are") {
  const float numbers[] = {1, 2, 3, 4};
  const FileBytes file = bytes_of_numbers(numbers);
  CHECK(decode(file, {Dtype::float32, Shape({2, 2})}, "k").data() == file.bytes.data());
  CHECK(decode(file, {Dtype::float32, Shape({4}), false, true}, "k").data() == file.bytes.data());
}

TEST_CASE("decode: numbers at an odd address are moved") {
  alignas(8) const char text[] = "x\0\0\x80\x3f";
  const Array array = decode(bytes_of({text + 1, 4}), {Dtype::float32, Shape({1})}, "k");
  CHECK(array.at(0) == 1);
}

TEST_CASE("decode: Fortran order of three axes") {
  // Element [i, j, l] of shape (2, 3, 2) is 100 i + 10 j + l; the first index varies fastest.
  const std::int16_t numbers[] = {0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121};
  const Array array =
      decode(bytes_of_numbers(numbers), {Dtype::int16, Shape({2, 3, 2}), false, true}, "k");
  CHECK(values_of(array) ==
        std::vector<double>{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
}

TEST_CASE("decode: Fortran order and the other byte order together, of each size") {
  const auto decoded = [](std::string_view text, Dtype dtype) {
    return values_of(decode(bytes_of(text), {dtype, Shape({2, 2}), true, true}, "k"));
  };
  const std::vector<double> expected{1, 3, 2, 4};
  CHECK(decoded({"\1\2\3\4", 4}, Dtype::uint8) == expected);
  CHECK(decoded({"\0\1\0\2\0\3\0\4", 8}, Dtype::uint16) == expected);
  CHECK(decoded({"\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4", 16}, Dtype::int32) == expected);
  CHECK(decoded({"\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4", 32},
                Dtype::int64) == expected);
}

TEST_CASE("decode: an array without elements needs no bytes, in either order") {
  for (const bool fortran_order : {false, true}) {
    const Array array = decode({}, {Dtype::float64, Shape({0, 4}), true, fortran_order}, "k");
    CHECK(array.shape() == Shape({0, 4}));
  }
}

TEST_CASE("decode: more or fewer bytes than the shape needs are refused with both sizes") {
  for (const std::size_t size : {23u, 25u})
    CHECK(error_of([&] {
            decode(bytes_of(std::string_view("0123456789012345678901234").substr(0, size)),
                   {Dtype::float32, Shape({2, 3})}, "k");
          }) == "k: " + std::to_string(size) + " bytes of data, shape (2, 3) of float32 needs 24");
}

TEST_CASE("decode: a 64-bit integer is taken exactly or refused") {
  for (const std::int64_t value : {std::int64_t{1} << 53, -(std::int64_t{1} << 53),
                                   (std::int64_t{1} << 53) + 2, std::int64_t{3} << 60, INT64_MIN})
    CHECK(exactness_error(value).empty());
  CHECK(exactness_error((std::int64_t{1} << 53) + 1) ==
        "k: int64 9007199254740993 at [0, 1] is not a value of float64, in which sdpa computes");
  CHECK(exactness_error(-(std::int64_t{1} << 53) - 1) ==
        "k: int64 -9007199254740993 at [0, 1] is not a value of float64, in which sdpa computes");
  CHECK(!exactness_error(INT64_MAX).empty());
  CHECK(!exactness_error(INT64_MIN + 1).empty());
}

TEST_CASE("decode: more axes than numpy has are refused") {
  CHECK(file_shape(std::vector<Index>(32, 1), "k").rank() == 32);
  CHECK(error_of([] { file_shape(std::vector<Index>(33, 1), "k"); }) ==
        "k: a shape of 33 axes, the most is 32");
  CHECK(error_of([] { file_shape({-1, 2}, "k"); }) == "k: shape (-1, 2) has a negative extent");
}
