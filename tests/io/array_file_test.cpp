#include "io/array_file.h"

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
  CHECK(error_of([] { open_array_writer("out.txt", Shape({1}), Dtype::float64); }) ==
        "out.txt: the name of an output ends in .npy, .json or .bin");
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
  CHECK(operands.q.shape() == Shape({1, 1}));
  CHECK(operands.k.at(1) == -2.5);
  CHECK(operands.v.at(3) == 6);
}

TEST_CASE("array_file: contents that are no array say what they are") {
  TemporaryFolder folder;
  const auto message = [&](std::string_view content) {
    const std::string path = folder.file("file", content);
    return error_of([&] { read_array(path); }).substr(path.size());
  };
  CHECK(message("") == ": is empty");
  CHECK(message("1 2 3\n4") ==
        ": holds neither .npy, .npz, .safetensors nor JSON, it begins with '1 2 3\\x0a4'; raw "
        "numbers "
        "are named FILE:TYPE:SHAPE, as q.bin:float32:128x64");
  CHECK(message("\x1f\x8b\x08") == ": is packed by gzip; unpack it first");
  CHECK(message("\3757zXZ") == ": is packed by xz; unpack it first");
  CHECK(message("\x89HDF\r\n") == ": is an HDF5 file, which is not read");
  CHECK(message("PK\x03\x04") ==
        ": is a zip archive (.npz), not one array; of members q, k and v it is given alone");
}

TEST_CASE("array_file: place_of calls - standard input and keeps a message on one line") {
  CHECK(place_of("-") == "standard input");
  CHECK(place_of("a\nb.npy") == "a\\x0ab.npy");
}

TEST_CASE("array file: a case file that says its types is given none") {
  const TemporaryFolder folder;
  const std::string json = folder.file("c.json", R"({"q": [[1]], "k": [[1]], "v": [[1]]})");
  CHECK(read_case(json + ":float64").q.at(0) == 1);
  CHECK(error_of([&] { read_case(json + ":float32"); }) ==
        json +
            ": the type alone is for .npy files; raw numbers are named FILE:TYPE:SHAPE, JSON is "
            "float64");
  const std::string tensors = SDPA_SOURCE_DIR "/data/forms/case/case.safetensors";
  CHECK(error_of([&] { read_case(tensors + ":float32"); }) ==
        tensors + ": is a .safetensors file, which says its types itself; leave out :float32");
}
