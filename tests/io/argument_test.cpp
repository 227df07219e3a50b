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
  CHECK((!plain.dtype && !plain.shape && !plain.member));

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
  CHECK(parse_argument(with_hash + "#c#d:f32").member == "c#d");
  CHECK(parse_argument(with_hash + "#c#d:f32").dtype == Dtype::float32);
  CHECK(parse_argument(with_hash + "#dense/kernel:0").member == "dense/kernel:0");
  const std::string with_index = folder.file("a[0]", "");
  CHECK(parse_argument(with_index).file == with_index);
  CHECK_FALSE(parse_argument(with_index).index.has_value());
  CHECK(parse_argument(with_index + "[1]").file == with_index);
  CHECK(parse_argument(with_hash + "#c").place == with_hash + "#c");
}

TEST_CASE("argument: the whole grammar") {
  TemporaryFolder folder;
  const std::string name = folder.file("case.npz", "");
  const Argument all = parse_argument(name + "#k.0:int8*0.0173f:2x3[:,0]");
  CHECK(all.file == name);
  CHECK(all.member == "k.0");
  CHECK(all.dtype == Dtype::int8);
  CHECK(all.factor->value == static_cast<double>(0.0173f));
  CHECK(all.shape == Shape({2, 3}));
  REQUIRE(all.index.has_value());
  CHECK(all.index->size() == 2);
  CHECK(all.place == name + "#k.0[:,0]");

  const Argument hex = parse_argument("q.mem:hex-int8:16x64");
  CHECK(hex.is_hex);
  CHECK(hex.dtype == Dtype::int8);
  CHECK(hex.file == "q.mem");

  const Argument fixed = parse_argument("q.bin:int16*2^-11:32x100x128");
  CHECK(fixed.factor->value == 0x1p-11);
  CHECK(fixed.shape == Shape({32, 100, 128}));

  const Argument view = parse_argument("qkv.npy[...,1:3]");
  CHECK(view.file == "qkv.npy");
  CHECK(view.place == "qkv.npy[...,1:3]");

  const Argument shaped = parse_argument(name + ":2x3");
  CHECK(shaped.shape == Shape({2, 3}));
  CHECK_FALSE(shaped.dtype.has_value());
  CHECK(parse_argument("-[0]").file == "-");
}

TEST_CASE("argument: # means a tensor only behind the name of a file") {
  CHECK(parse_argument("no-such-file#q").file == "no-such-file#q");
  CHECK(parse_argument("-#q").member == "q");
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
