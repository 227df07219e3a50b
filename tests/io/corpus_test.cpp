#include "catch.h"
#include "io/array_file.h"
#include "io/error_of.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace sdpa;
using nlohmann::json;

namespace {

const std::filesystem::path kSource = SDPA_SOURCE_DIR;

json index_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "index.json");
  REQUIRE(file);
  json entries = json::parse(file);
  REQUIRE(!entries.empty());
  return entries;
}

bool is_one_plain_line(const std::string& message) {
  return !message.empty() &&
         std::ranges::all_of(message, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

/// A number of an index: as itself, or as a text that strtod takes (hexadecimal, nan, inf, -0.0).
double number_of(const json& value) {
  if (value.is_string()) return std::strtod(value.get<std::string>().c_str(), nullptr);
  return value.get<double>();
}

void flatten(const json& value, std::vector<double>& numbers) {
  if (value.is_array())
    for (const json& element : value) flatten(element, numbers);
  else
    numbers.push_back(number_of(value));
}

bool is_same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

void check_holds(const Array& array, const json& shape, const json& values) {
  CHECK(array.shape() == Shape(shape.get<std::vector<Index>>()));
  std::vector<double> expected;
  flatten(values, expected);
  REQUIRE(array.shape().element_count() == static_cast<Index>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i);
    CHECK(is_same(array.at(static_cast<Index>(i)), expected[i]));
  }
}

}  // namespace

TEST_CASE("files: every malformed file is refused with its message") {
  const auto folder = kSource / "data" / "malformed";
  for (const json& entry : index_of(folder)) {
    const std::string path = (folder / entry["file"]).string();
    const bool is_case = entry["file"].get<std::string>().starts_with("case/");
    const std::string message =
        error_of([&] { is_case ? void(read_case(path)) : void(read_array(path)); });
    CHECK(message == path + ": " + entry["message"].get<std::string>());
    CHECK(is_one_plain_line(message));
  }
}

TEST_CASE("files: every well-formed file is read as its index says") {
  const auto folder = kSource / "data" / "forms";
  for (const json& entry : index_of(folder)) {
    const std::string path = (folder / entry["file"]).string();
    INFO(path);
    const Array array = read_array(path);
    CHECK(name(array.dtype()) == entry["dtype"].get<std::string>());
    check_holds(array, entry["shape"], entry["values"]);
  }
}

TEST_CASE("files: every form of a case file holds the same arrays") {
  const auto folder = kSource / "data" / "forms" / "case";
  for (const auto& [file, dtype] : {std::pair{"case.json", Dtype::float64},
                                    {"case.safetensors", Dtype::float32},
                                    {"bfloat16.safetensors", Dtype::bfloat16},
                                    {"stored.npz", Dtype::float32},
                                    {"deflated.npz", Dtype::float32},
                                    {"streamed.npz", Dtype::float32},
                                    {"without_suffix.npz", Dtype::float32},
                                    {"zip64.npz", Dtype::float32},
                                    {"bfloat16.npz", Dtype::bfloat16},
                                    {"bfloat16.npz:bfloat16", Dtype::bfloat16}}) {
    INFO(file);
    const Case operands = read_case((folder / file).string());
    CHECK(operands.q.array->dtype() == dtype);
    check_holds(*operands.q.array, {1, 2}, {1, 2});
    check_holds(*operands.k.array, {2, 2}, {3, 4, 5, 6});
    check_holds(*operands.v.array, {2, 1}, {7, 8});
  }
}
