#include "io/argument.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

using namespace sdpa;

namespace {

std::string error_in(std::string_view word) {
  return error_of([&] { parse_argument(word); });
}

}  // namespace

TEST_CASE("argument: FILE, FILE:TYPE and FILE:TYPE:SHAPE") {
  const Argument plain = parse_argument("q.npy");
  CHECK(plain.file == "q.npy");
  CHECK((!plain.dtype && !plain.shape && !plain.tensor));

  const Argument typed = parse_argument("q.npy:bfloat16");
  CHECK(typed.file == "q.npy");
  CHECK(typed.dtype == Dtype::bfloat16);

  const Argument raw = parse_argument("a:b/q.bin:f32:2x128x64");
  CHECK(raw.file == "a:b/q.bin");
  CHECK(raw.dtype == Dtype::float32);
  CHECK(raw.shape == Shape({2, 128, 64}));
  CHECK(raw.place == "a:b/q.bin");

  const Argument standard_input = parse_argument("-:f16:3x0");
  CHECK(standard_input.file == "-");
  CHECK(standard_input.place == "standard input");
  CHECK(standard_input.shape == Shape({3, 0}));
}

TEST_CASE("argument: a file that has the whole word for its name is that file") {
  TemporaryFolder folder;
  const std::string name = folder.file("q:f32:2x3", "");
  CHECK(parse_argument(name).file == name);
  CHECK(parse_argument(name + ":f16:1x1").file == name);
  const std::string with_hash = folder.file("a#b", "");
  CHECK(parse_argument(with_hash).file == with_hash);
  CHECK(parse_argument(with_hash + "#c#d:f32").file == with_hash);
  CHECK(parse_argument(with_hash + "#c#d:f32").tensor == "c#d:f32");
  CHECK(parse_argument(with_hash + "#c").place == with_hash + "#c");
}

TEST_CASE("argument: # means a tensor only behind the name of a file") {
  CHECK(parse_argument("no-such-file#q").file == "no-such-file#q");
  CHECK(parse_argument("-#q").tensor == "q");
}

TEST_CASE("argument: a wrong type or shape is named") {
  TemporaryFolder folder;
  const std::string name = folder.file("q.bin", "");
  CHECK(error_in(name + ":f31:2x3").starts_with(name + ": no type is called 'f31'; there are f"));
  CHECK(error_in(name + ":f31").starts_with(name + ": no type is called 'f31'; there are f"));
  for (const std::string shape : {"2,3", "2x", "x2", "2xx3", "-2x3", "2x 3", "", "2.0x3", "0x0x"})
    CHECK(error_in(name + ":f32:" + shape) ==
          name + ": no shape is written '" + shape + "'; it is extents joined by x, as 128x64");
  CHECK(error_in(name + ":f32:4294967296x4294967296") ==
        name + ": shape (4294967296, 4294967296) is too large");
}

TEST_CASE("argument: the place of a word that is wrong is still its file") {
  CHECK(argument_place("q.bin:f32:nonsense") == "q.bin");
  CHECK(argument_place("q\n.bin") == "q\\x0a.bin");
  CHECK(argument_place("-") == "standard input");
}
