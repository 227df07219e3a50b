#include "io/array_file.h"

#include "io/array_writer.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <cmath>

using namespace sdpa;

namespace {

const double kNumbers[] = {2, 2, 1.5, 0.1};

void write_numbers(const std::string& path) {
  const auto writer = open_array_writer(path, Shape({2, 2}), Dtype::float64);
  writer->append(std::as_bytes(std::span(kNumbers).first(3)));
  writer->append(std::as_bytes(std::span(kNumbers).last(1)));
  writer->commit();
}

}  // namespace

TEST_CASE("array_file: what is written as .npy or .json is read back") {
  TemporaryFolder folder;
  for (const char* name : {"a.npy", "a.json"}) {
    write_numbers(folder.path(name));
    const Array array = read_array(folder.path(name));
    CHECK(array.shape() == Shape({2, 2}));
    CHECK(array.dtype() == Dtype::float64);
    for (Index i = 0; i < 4; ++i) CHECK(array.at(i) == kNumbers[i]);
  }
}

TEST_CASE("array_file: an empty array written as JSON is read back where JSON can show its shape") {
  TemporaryFolder folder;
  const std::string path = folder.path("a.json");
  for (const Shape& shape : {Shape({0}), Shape({3, 0}), Shape({1, 1, 0}), Shape({2, 3, 4, 0})}) {
    open_array_writer(path, shape, Dtype::float32)->commit();
    CHECK(read_array(path).shape() == shape);
  }
  open_array_writer(path, Shape({2, 0, 3}), Dtype::float32)->commit();
  CHECK(read_array(path).shape() == Shape({2, 0}));
}

TEST_CASE("array_file: .bin holds the numbers alone") {
  TemporaryFolder folder;
  write_numbers(folder.path("a.bin"));
  CHECK(folder.content("a.bin") ==
        std::string(reinterpret_cast<const char*>(kNumbers), sizeof kNumbers));
}

TEST_CASE("array_file: an output without a known extension is refused") {
  CHECK(error_of([] { open_array_writer("out.tiff", Shape({1}), Dtype::float64); }) ==
        "out.tiff: the name of an output ends in .npy, .npz, .safetensors, .json, .csv, .txt or "
        ".bin");
}

TEST_CASE("array_file: an input may be replaced while its array is in use") {
  TemporaryFolder folder;
  write_numbers(folder.path("a.npy"));
  const Array array = read_array(folder.path("a.npy"));
  const double ones[] = {1, 1, 1, 1};
  const auto writer = open_array_writer(folder.path("a.npy"), Shape({2, 2}), Dtype::float64);
  writer->append(std::as_bytes(std::span(ones)));
  writer->commit();
  for (Index i = 0; i < 4; ++i) CHECK(array.at(i) == kNumbers[i]);
  CHECK(read_array(folder.path("a.npy")).at(3) == 1);
}

TEST_CASE("array_file: a value that JSON cannot hold leaves no file") {
  TemporaryFolder folder;
  const double bad[] = {1, -HUGE_VAL};
  const std::string path = folder.path("a.json");
  CHECK(error_of([&] {
          open_array_writer(path, Shape({1, 2}), Dtype::float64)
              ->append(std::as_bytes(std::span(bad)));
        }) == path + ": [0, 1] is -inf, which JSON cannot hold; .npy can");
  CHECK(folder.names().empty());
}

TEST_CASE("array_file: a case is one object of q, k and v") {
  TemporaryFolder folder;
  const Case operands = read_case(
      folder.file("a.json", R"({"v": [[3, 0], [0, 6]], "q": [[1]], "k": [[1], [-2.5]]})"));
  CHECK(operands.q.array->shape() == Shape({1, 1}));
  CHECK(operands.k.array->at(1) == -2.5);
  CHECK(operands.v.array->at(3) == 6);
}

TEST_CASE("array_file: contents that are no array say what they are") {
  TemporaryFolder folder;
  const auto message = [&](std::string_view content) {
    const std::string path = folder.file("file", content);
    return error_of([&] { read_array(path); }).substr(path.size());
  };
  CHECK(message("") == ": is empty");
  CHECK(message("1 2 3\n4") == ": line 2: 1 number, the lines before have 3");
  CHECK(
      message("\1\2\3") ==
      ": holds neither .npy, .npz, .safetensors, JSON nor text, it begins with '\\x01\\x02\\x03'; "
      "raw numbers are named FILE:TYPE:SHAPE, as q.bin:float32:128x64");
  CHECK(message("\x1f\x8b\x08") == ": is packed by gzip; unpack it first");
  CHECK(message("\3757zXZ") == ": is packed by xz; unpack it first");
  CHECK(message("\x89HDF\r\n") == ": is an HDF5 file, which is not read");
  CHECK(message("PK\x03\x04") ==
        ": is a zip archive without its end, where the directory is; it seems to be cut off");
}

TEST_CASE("array_file: place_of calls - standard input and keeps a message on one line") {
  CHECK(place_of("-") == "standard input");
  CHECK(place_of("a\nb.npy") == "a\\x0ab.npy");
}

TEST_CASE("array_file: a type behind a case file is that of its operands") {
  const TemporaryFolder folder;
  const std::string json = folder.file("c.json", R"({"q": [[0.1]], "k": [[1]], "v": [[1]]})");
  CHECK(read_case(json + ":float64").q.array->at(0) == 0.1);
  CHECK(read_case(json + ":float32").q.array->dtype() == Dtype::float32);
  CHECK(read_case(json + ":float32").q.array->at(0) == static_cast<double>(0.1f));
  const std::string tensors = SDPA_SOURCE_DIR "/data/forms/case/case.safetensors";
  CHECK(read_case(tensors + ":float16").v.array->dtype() == Dtype::float16);
  CHECK(error_of([&] { read_case(json + "[0]"); }) ==
        json + "[0]: holds one array, not q, k and v; three are named by -q, -k and -v");
}

TEST_CASE("array_file: raw or text is told by the content") {
  const TemporaryFolder folder;
  const std::string text = folder.file("a.dat", "1.5 2.5\n3.5 4.5\n");  // 16 bytes
  CHECK(read_array(text + ":float32:2x2").at(3) == 4.5);
  CHECK(read_array(text + ":float32:2x2").dtype() == Dtype::float32);
  CHECK(read_array(text + ":2x2x1").dtype() == Dtype::float64);
  const std::string raw = folder.file("b.dat", "12345678");
  CHECK(read_array(raw + ":uint8:2x4").at(0) == '1');
  CHECK(error_of([&] { read_array(folder.file("c.dat", std::string("\0\0\0\0", 4)) + ":2x2"); })
            .ends_with("c.dat: raw numbers need their type, as " + folder.path("c.dat") +
                       ":float32:2x2"));
  const std::string json = folder.file("d.json", "[[1, 2]]");
  CHECK(error_of([&] { read_array(json + ":float32:2x2"); }) ==
        json + ": says its shape itself; leave out :2x2");
}

TEST_CASE("array_file: index, then type, then factor") {
  const TemporaryFolder folder;
  const std::string raw = folder.file("a.bin", std::string_view("\1\2\3\4\5\6", 6));
  const Array scaled = read_array(raw + ":int8*0.5:2x3[:,1]");
  CHECK(scaled.shape() == Shape({2}));
  CHECK(scaled.at(1) == 2.5);
  CHECK(place_of(raw + ":int8*0.5:2x3[:,1]") == raw + "[:,1]");
  // What is not chosen need not hold in the type.
  const std::string json = folder.file("b.json", "[[0.1, 1], [2, 3]]");
  CHECK(read_array(json + ":int8[1]").at(0) == 2);
  const std::string hex = folder.file("c.mem", "3c00 4000\n4200 4400\n");
  CHECK(read_array(hex + ":hex-float16:2x2[1]").at(1) == 4);
  CHECK(error_of([&] { read_array(hex + ":hex-float16"); }) ==
        hex + ": hexadecimal words need their shape, as " + hex + ":hex-int8:128x64");
}
