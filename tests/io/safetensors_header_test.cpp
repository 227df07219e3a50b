#include "io/safetensors_header.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

using namespace sdpa;

namespace {

std::vector<Tensor> tensors_in(std::string_view text, std::size_t data_size) {
  return parse_safetensors_header(bytes_of(text).bytes, data_size, "m");
}

std::string error_in(std::string_view text, std::size_t data_size = 0) {
  return error_of([&] { tensors_in(text, data_size); });
}

}  // namespace

TEST_CASE("safetensors header: tensors come in the order of their data") {
  const auto tensors = tensors_in(
      R"({"b":{"data_offsets":[4,8],"shape":[],"dtype":"F32"},"__metadata__":{"x":"y","dtype":"z"},
          "a":{"dtype":"F16","shape":[1,2],"data_offsets":[0,4]},
          "e":{"dtype":"F16","shape":[0],"data_offsets":[4,4]}}  )",
      8);
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[0].name == "a");
  CHECK(tensors[0].dtype == "F16");
  CHECK(tensors[0].shape == std::vector<Index>{1, 2});
  CHECK(tensors[1].name == "e");
  CHECK(tensors[2].name == "b");
  CHECK(tensors[2].end == 8);
}

TEST_CASE("safetensors header: what is not of the format is refused") {
  for (const std::string_view text :
       {"[]", "1", "\"a\"", "{\"a\":1}", "{\"a\":null}", "{\"a\":[]}", "{\"a\":{\"dtype\":1}}",
        "{\"a\":{\"shape\":1}}", "{\"a\":{\"shape\":[[1]]}}", "{\"a\":{\"shape\":[1.5]}}",
        "{\"a\":{\"shape\":[\"1\"]}}", "{\"a\":{\"shape\":{}}}", "{\"a\":{}}",
        "{\"__metadata__\":\"a\"}", "{\"__metadata__\":{\"a\":{}}}",
        "{\"__metadata__\":{\"a\":[]}}", "{\"__metadata__\":[]}", "{", ""})
    CHECK(!error_in(text).empty());
  CHECK(error_in("{}").empty());
  CHECK(error_in("{}", 3) == "m: the tensors end at byte 0 of 3 bytes of data");
}
