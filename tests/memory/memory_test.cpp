#include "catch.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "io/array_writer.h"
#include "io/child.h"
#include "io/json.h"
#include "io/temporary_folder.h"

#include <filesystem>
#include <variant>

using namespace sdpa;

namespace {

constexpr long long kMiB = 1 << 20;

/// Writes a .npy file of float32 numbers between -2 and 2, all different from their neighbours.
void write_numbers(const std::string& path, Index rows, Index columns) {
  const Shape shape({rows, columns});
  std::vector<float> numbers(static_cast<std::size_t>(shape.element_count()));
  std::uint32_t state = 1;
  for (float& number : numbers) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(state >> 8) / (1 << 22) - 2;
  }
  const auto writer = open_array_writer(path, shape, Dtype::float32);
  writer->append(std::as_bytes(std::span(numbers)));
  writer->commit();
}

/// What the command needs with these extents, and further words, beyond its inputs, which are
/// mapped.
long long memory_of(const TemporaryFolder& folder, Index T_q, Index T_k, Index d,
                    std::vector<std::string> words) {
  write_numbers(folder.path("q.npy"), T_q, d);
  write_numbers(folder.path("k.npy"), T_k, d);
  write_numbers(folder.path("v.npy"), T_k, d);
  words.insert(words.end(), {"-q", folder.path("q.npy"), "-k", folder.path("k.npy"), "-v",
                             folder.path("v.npy"), "-o", folder.path("o.npy"), "--threads", "2"});
  const long long inputs = 4 * d * (T_q + 2 * T_k);
  const long long memory = peak_memory_of([&] {
    const Request request = parse(words);
    std::visit([](const auto& options) { return run(options); }, request);
  });
  REQUIRE(memory > 0);
  return memory - inputs;
}

}  // namespace

TEST_CASE("memory: the product of T_q and T_k is not in it") {
  const TemporaryFolder folder;
  // As float64 all scores would be 1 GiB.
  CHECK(memory_of(folder, 2048, 65536, 2, {}) < 64 * kMiB);
  CHECK(folder.content("o.npy").size() == 128 + 4 * 2048 * 2);
}

TEST_CASE("memory: long rows of k and v are not copied") {
  const TemporaryFolder folder;
  CHECK(memory_of(folder, 64, 65536, 64, {}) < 16 * kMiB);  // k and v have 16 MiB each
  CHECK(folder.content("o.npy").size() == 128 + 4 * 64 * 64);
}

TEST_CASE("memory: weights are written as they are computed") {
  const TemporaryFolder folder;
  // The weights are 64 MiB.
  const std::vector<std::string> words = {"-w", folder.path("w.npy"), "--precision", "float64"};
  CHECK(memory_of(folder, 4096, 4096, 2, words) < 32 * kMiB);
  CHECK(std::filesystem::file_size(folder.path("w.npy")) == 128 + 4LL * 4096 * 4096);
}

TEST_CASE("memory: JSON is read into the array, without a tree") {
  // So many that the last time the array grew is not long ago.
  constexpr std::size_t kNumbers = 1100000;
  std::string text = "[0";
  for (std::size_t i = 1; i < kNumbers; ++i) text += ",1";
  text += "]";
  const long long memory = peak_memory_of([&] { read_json(bytes_of(text).bytes, "k.json"); });
  CHECK(memory > 0);
  CHECK(memory < static_cast<long long>(2 * 8 * kNumbers) + 2 * kMiB);
}
