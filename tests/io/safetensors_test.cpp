#include "io/safetensors.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/file.h"
#include "io/temporary_folder.h"

#include <cstring>

using namespace sdpa;

namespace {

std::string file_of(std::string_view header, std::string_view data) {
  const std::uint64_t size = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &size, 8);
  return file.append(header).append(data);
}

const std::string kFile = file_of(
    R"({"a/b":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]},"c":{"dtype":"F4","shape":[1],"data_offsets":[4,5]}})",
    std::string_view("\1\2\3\xff\1", 5));

std::string error_in(std::string_view name) {
  return error_of([&] { read_safetensors(bytes_of(kFile), name, "m#" + std::string(name)); });
}

}  // namespace

TEST_CASE("safetensors: a file is known by a header that fits into it") {
  CHECK(is_safetensors(bytes_of(kFile).bytes));
  CHECK(!is_safetensors(bytes_of(R"({"q": [[1]], "k": [[1]], "v": [[1]]})").bytes));
  CHECK(!is_safetensors(bytes_of(std::string_view(kFile).substr(0, 8)).bytes));
  CHECK(!is_safetensors(bytes_of(std::string_view(kFile).substr(0, 60)).bytes));
}

TEST_CASE("safetensors: one tensor by its name") {
  const Array array = read_safetensors(bytes_of(kFile), "a/b", "m#a/b");
  CHECK(array.shape() == Shape({2, 2}));
  CHECK(array.at(3) == -1);
  CHECK(error_in("c") == "m#c: type 'F4' is not taken");
  CHECK(error_in("d") == "m#d: no tensor has this name; there are 2: 'a/b', 'c'");
}
