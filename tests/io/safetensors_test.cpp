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
  return error_of(
      [&] { read_member_array(*open_safetensors(bytes_of(kFile), "m"), std::string(name), "m"); });
}

}  // namespace

TEST_CASE("safetensors: a file is known by a header that fits into it") {
  CHECK(is_safetensors(bytes_of(kFile).bytes));
  CHECK(!is_safetensors(bytes_of(R"({"q": [[1]], "k": [[1]], "v": [[1]]})").bytes));
  CHECK(!is_safetensors(bytes_of(std::string_view(kFile).substr(0, 8)).bytes));
  CHECK(!is_safetensors(bytes_of(std::string_view(kFile).substr(0, 60)).bytes));
}

TEST_CASE("safetensors: one tensor by its name") {
  const Array array = read_member_array(*open_safetensors(bytes_of(kFile), "m"), "a/b", "m");
  CHECK(array.shape() == Shape({2, 2}));
  CHECK(array.at(3) == -1);
  CHECK(error_in("c") == "m: c: type 'F4' is not taken");
  CHECK(error_in("d") == "m: there is no member of this name; there are 'a/b' and 'c'");
}

TEST_CASE("safetensors: the types of 8 bits") {
  const std::string file = file_of(
      R"({"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"F8_E5M2","shape":[1],"data_offsets":[2,3]}})",
      std::string_view("\x38\x7e\x38", 3));
  const auto tensors = open_safetensors(bytes_of(file), "m");
  CHECK(tensors->read(0).array->dtype() == Dtype::float8_e4m3fn);
  CHECK(tensors->read(0).array->at(0) == 1);
  CHECK(tensors->read(0).array->at(1) == 448);
  CHECK(tensors->read(1).array->at(0) == 0.5);
}
