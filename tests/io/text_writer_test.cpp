#include "io/text_writer.h"

#include "array/float_format.h"
#include "catch.h"
#include "io/array_file.h"
#include "io/array_writer.h"
#include "io/temporary_folder.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace sdpa;

namespace {

template <class Number>
std::string text_of(const std::vector<Number>& values, const Shape& shape, Dtype dtype,
                    const char* name) {
  const TemporaryFolder folder;
  const auto writer = open_array_writer(folder.path(name), shape, dtype);
  writer->append(std::as_bytes(std::span(values)));
  writer->commit();
  return folder.content(name);
}

}  // namespace

TEST_CASE("text writer: a row of the last axis on a line") {
  const std::vector<float> values = {0.1F, 2, -3.5F, 1e10F, HUGE_VALF, std::nanf("")};
  CHECK(text_of(values, Shape({2, 3}), Dtype::float32, "o.csv") == "0.1,2,-3.5\n1e+10,inf,nan\n");
  CHECK(text_of(values, Shape({3, 1, 2}), Dtype::float32, "o.txt") ==
        "0.1 2\n-3.5 1e+10\ninf nan\n");
  CHECK(text_of(values, Shape({6}), Dtype::float32, "o.csv") == "0.1\n2\n-3.5\n1e+10\ninf\nnan\n");
  CHECK(text_of(std::vector<float>{0.1F}, Shape(std::vector<Index>{}), Dtype::float32, "o.txt") ==
        "0.1\n");
  CHECK(text_of(std::vector<float>{}, Shape({2, 0}), Dtype::float32, "o.txt").empty());
  CHECK(text_of(std::vector<char>{1, 0}, Shape({1, 2}), Dtype::boolean, "o.csv") == "1,0\n");
}

TEST_CASE("text writer: what is written is read back to the same bits, in every float type") {
  const TemporaryFolder folder;
  std::mt19937_64 random(3);
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64,
                            Dtype::float8_e4m3fn, Dtype::float8_e5m2}) {
    const auto size = static_cast<std::size_t>(size_bytes(dtype));
    std::vector<std::byte> bytes;
    for (int i = 0; i < 600; ++i) {
      std::uint64_t bits = random();
      if (std::isnan(from_bits(bits, dtype))) bits = 0;
      const auto* first = reinterpret_cast<const std::byte*>(&bits);
      bytes.insert(bytes.end(), first, first + size);
    }
    for (const char* name : {"o.csv", "o.txt"}) {
      const auto writer = open_array_writer(folder.path(name), Shape({20, 30}), dtype);
      writer->append(std::span(bytes).first(7 * size));
      writer->append(std::span(bytes).subspan(7 * size));
      writer->commit();
      const Array read = read_array(folder.path(name) + ":" + std::string(sdpa::name(dtype)));
      CHECK(read.shape() == Shape({20, 30}));
      CHECK(std::memcmp(read.data(), bytes.data(), bytes.size()) == 0);
    }
  }
}
