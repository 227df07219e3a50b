#include "io/bundle.h"

#include "catch.h"
#include "io/array_file.h"
#include "io/array_writer.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

using namespace sdpa;

namespace {

const float kOutput[] = {1, 2, 3, 4, 5, 6};
const double kWeights[] = {0.5, 0.25};

std::span<const std::byte> bytes_of_some(const float* first, std::size_t count) {
  return std::as_bytes(std::span(first, count));
}

}  // namespace

TEST_CASE("bundle: several results for one path become one file, written piece by piece") {
  for (const std::string name : {"o.npz", "o.safetensors"}) {
    const TemporaryFolder folder;
    const std::string path = folder.path(name);
    {
      const auto output = open_array_writer(path, Shape({3, 2}), Dtype::float32, "output");
      const auto weights = open_array_writer(path, Shape({2, 1}), Dtype::float64, "weights");
      const auto empty = open_array_writer(path, Shape({0, 4}), Dtype::float16, "lse");
      output->append(bytes_of_some(kOutput, 2));
      weights->append(std::as_bytes(std::span(kWeights).first(1)));
      output->append(bytes_of_some(kOutput + 2, 4));
      weights->append(std::as_bytes(std::span(kWeights).last(1)));
      output->finish();
      weights->finish();
      empty->finish();
      CHECK(folder.names().size() == 1);  // of the temporary file
      CHECK(folder.names()[0] != name);
      output->commit();
      weights->commit();
      empty->commit();
    }
    CHECK(folder.names().size() == 1);
    const Array output = read_array(path + "#output"), weights = read_array(path + "#weights");
    CHECK(output.shape() == Shape({3, 2}));
    CHECK(output.at(5) == 6);
    CHECK(weights.dtype() == Dtype::float64);
    CHECK(weights.at(1) == 0.25);
    CHECK(read_array(path + "#lse").shape() == Shape({0, 4}));
  }
}

TEST_CASE("bundle: what is not committed leaves no file, and one array needs no name") {
  const TemporaryFolder folder;
  const std::string path = folder.path("o.npz");
  {
    const auto output = open_array_writer(path, Shape({2}), Dtype::float32);
    const auto weights = open_array_writer(path, Shape({1}), Dtype::float64, "weights");
    output->append(bytes_of_some(kOutput, 2));
    output->commit();  // the other one is not complete
  }
  CHECK(folder.names().empty());
  const auto again = open_array_writer(path, Shape({2}), Dtype::float32);
  again->append(bytes_of_some(kOutput, 2));
  again->commit();
  CHECK(read_array(path).at(1) == 2);
}

TEST_CASE("bundle: what a form cannot hold is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.path("o.npz");
  CHECK(error_of([&] { open_array_writer(path, Shape({1}), Dtype::float8_e5m2); }) ==
        path + ": numpy has no name for float8_e5m2; .safetensors and .bin hold it");
  const auto output = open_array_writer(path, Shape({1}), Dtype::float32);
  CHECK(error_of([&] { open_array_writer(path, Shape({1}), Dtype::float32); }) ==
        path + ": would hold 'output' twice");
  CHECK(error_of([] {
          open_array_writer("/dev/null", Shape({1}), Dtype::float32, "a", OutputForm::npz);
        }).empty());
}
