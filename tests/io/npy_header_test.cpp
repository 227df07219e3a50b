#include "io/npy_header.h"

#include "catch.h"
#include "io/error_of.h"

using namespace sdpa;

namespace {

std::string error_in(std::string_view text, bool suffix_L = true) {
  return error_of([&] { parse_npy_header(text, suffix_L, "k.npy"); });
}

std::string with_shape(std::string_view shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + std::string(shape) + "}";
}

}  // namespace

TEST_CASE("npy header: the dictionary in the ways Python may write it") {
  const NpyHeader plain =
      parse_npy_header("{'descr': '>f8', 'fortran_order': True, 'shape': (3, 4), }  \n", true, "k");
  CHECK(plain.descr == ">f8");
  CHECK(plain.fortran_order);
  CHECK(plain.shape == std::vector<Index>{3, 4});
  CHECK(parse_npy_header(with_shape("()"), true, "k").shape.empty());
  CHECK(parse_npy_header(with_shape("(5,)"), true, "k").shape == std::vector<Index>{5});
  CHECK(parse_npy_header(with_shape("\t( 5 ,\n6 , )"), true, "k").shape ==
        std::vector<Index>{5, 6});
  CHECK(parse_npy_header(with_shape("(0, 10)"), true, "k").shape == std::vector<Index>{0, 10});
}

TEST_CASE("npy header: integers with L are only for the formats of Python 2") {
  CHECK(parse_npy_header(with_shape("(2L, 3L)"), true, "k").shape == std::vector<Index>{2, 3});
  CHECK(error_in(with_shape("(2L, 3L)"), false) ==
        "k.npy: header: byte 52 should be ',' or ')', but is 'L, 3L)}'");
}

TEST_CASE("npy header: what is no tuple of integers is refused") {
  for (const std::string_view shape : {"(,)", "(2 3)", "(2,, 3)", "(02, 3)", "(2.0, 3)", "(+2, 3)",
                                       "(2_0, 3)", "(0x2, 3)", "(True, 3)", "2", "[2]", "(2"})
    CHECK(!error_in(with_shape(shape)).empty());
  CHECK(error_in(with_shape("(6)")) ==
        "k.npy: header: byte 52 should be ',', which makes a tuple of one number, but is ')}'");
}

TEST_CASE("npy header: strings with escapes, bytes and unclosed strings are refused") {
  for (const std::string_view descr :
       {R"('\x3cf4')", "b'<f4'", "'<f4", "'<f4\"", "'''<f4'''", "'<' 'f4'", "None", "r'<f4'"})
    CHECK(!error_in("{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (1,)}")
               .empty());
}

TEST_CASE("npy header: every beginning of a header is refused, and anything behind it") {
  const std::string header = with_shape("(2, 3)");
  CHECK(error_in(header).empty());
  for (std::size_t size = 0; size < header.size(); ++size)
    CHECK(!error_in(std::string_view(header).substr(0, size)).empty());
  CHECK(error_in(header + " x") == "k.npy: header: byte 58 should be nothing more, but is 'x'");
}
