#include "io/json_writer.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/json.h"
#include "io/temporary_folder.h"

#include <cmath>
#include <numeric>

using namespace sdpa;

namespace {

/// The text of an array of these numbers, rounded to `dtype`.
std::string text_of(const std::vector<double>& numbers, const Shape& shape, Dtype dtype) {
  Array array(shape, dtype);
  store_rounded(numbers.data(), shape.element_count(), dtype, array.mutable_data());
  TemporaryFolder folder;
  OutputFile file(folder.path("a"));
  JsonWriter writer(file, shape, dtype);
  writer.append(array.bytes());
  writer.finish();
  file.commit();
  return folder.content("a");
}

}  // namespace

TEST_CASE("json writer: an array on one line") {
  const double numbers[] = {1, 2.5, -3, 0.1};
  const auto* bytes = reinterpret_cast<const std::byte*>(numbers);
  const auto text = [&](const Shape& shape) {
    return one_line_json(Array(shape, Dtype::float64, nullptr, bytes), "place");
  };
  CHECK(text(Shape({4})) == "[1, 2.5, -3, 0.1]");
  CHECK(text(Shape({2, 2})) == "[[1, 2.5], [-3, 0.1]]");
  CHECK(text(Shape({2, 1, 2})) == "[[[1, 2.5]], [[-3, 0.1]]]");
  CHECK(text(Shape({2, 0})) == "[[],[]]");
  const double bad[] = {HUGE_VAL};
  CHECK(error_of([&] {
          one_line_json(
              Array(Shape({1}), Dtype::float64, nullptr, reinterpret_cast<const std::byte*>(bad)),
              "place");
        }) == "place: [0] is inf, which JSON cannot hold; .npy can");
}

TEST_CASE("json writer: one row a line") {
  CHECK(text_of({2, 2, 1.5, 3}, Shape({2, 2}), Dtype::float64) == "[[2, 2],\n [1.5, 3]]\n");
  CHECK(text_of({1, 2, 3, 4}, Shape({2, 2, 1}), Dtype::float64) ==
        "[[[1],\n  [2]],\n [[3],\n  [4]]]\n");
  CHECK(text_of({1, 2, 3}, Shape({3}), Dtype::float64) == "[1, 2, 3]\n");
  CHECK(text_of({2.5}, Shape(), Dtype::float64) == "2.5\n");
}

TEST_CASE("json writer: the fewest digits that read back to the same value of the type") {
  CHECK(text_of({0.1}, Shape({1}), Dtype::float16) == "[0.1]\n");
  CHECK(text_of({0.1}, Shape({1}), Dtype::bfloat16) == "[0.1]\n");
  CHECK(text_of({0.1}, Shape({1}), Dtype::float32) == "[0.1]\n");
  CHECK(text_of({0.1}, Shape({1}), Dtype::float64) == "[0.1]\n");
  CHECK(text_of({1e30}, Shape({1}), Dtype::float32) == "[1e+30]\n");
  CHECK(text_of({0x1p-1074}, Shape({1}), Dtype::float64) == "[5e-324]\n");
}

TEST_CASE("json writer: an array without elements is shown as far as JSON can") {
  CHECK(text_of({}, Shape({0, 4}), Dtype::float32) == "[]\n");
  CHECK(text_of({}, Shape({3, 0}), Dtype::float32) == "[[],[],[]]\n");
  CHECK(text_of({}, Shape({2, 1, 0}), Dtype::float32) == "[[[]],[[]]]\n");
  CHECK(error_of([] {
          text_of({}, Shape({1'000'000'000, 0}), Dtype::float32);
        })
            .ends_with("shape (1000000000, 0) has no elements, but as JSON it would be 1000000000 "
                       "empty lists"));
}

TEST_CASE("json writer: pieces of any size give the same text") {
  std::vector<double> numbers(3000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::string whole = text_of(numbers, Shape({5, 600}), Dtype::float64);
  TemporaryFolder folder;
  OutputFile file(folder.path("a"));
  JsonWriter writer(file, Shape({5, 600}), Dtype::float64);
  for (std::size_t first = 0; first < numbers.size(); first += 7)
    writer.append(std::as_bytes(
        std::span(numbers).subspan(first, std::min<std::size_t>(7, numbers.size() - first))));
  writer.finish();
  file.commit();
  CHECK((folder.content("a") == whole));
  const Array array = read_json(bytes_of(whole).bytes, "a");
  CHECK(array.shape() == Shape({5, 600}));
  CHECK(array.at(2999) == 2999);
}

TEST_CASE("json writer: values that JSON cannot hold are named") {
  for (const double value : {std::nan(""), HUGE_VAL})
    CHECK(error_of([&] {
            text_of({1, 2, value, 4}, Shape({2, 2}), Dtype::float32);
          })
              .ends_with(std::string("[1, 0] is ") + (std::isnan(value) ? "nan" : "inf") +
                         ", which JSON cannot hold; .npy can"));
}
