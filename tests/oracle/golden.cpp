#include "oracle/golden.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace sdpa::oracle {

namespace {

/// Reads a matrix from the only form of .npy that data/golden has: version 1.0, little-endian
/// floats, C order. So the values reach the tests without the readers of the product.
Array read_matrix(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.compare(0, 8, std::string("\x93NUMPY\1\0", 8)) != 0)
    throw std::runtime_error(path.string() + " is not a .npy file of version 1.0");
  const auto header_size = static_cast<unsigned char>(bytes[8]) +
                           std::size_t{256} * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, header_size);

  long rows = 0, columns = 0;
  const auto shape = header.find("'shape': (");
  if (header.find("'fortran_order': False") == std::string::npos || shape == std::string::npos ||
      std::sscanf(header.c_str() + shape, "'shape': (%ld, %ld)", &rows, &columns) != 2)
    throw std::runtime_error(path.string() + " is not a matrix in C order");
  const auto descr = header.find("'<f");
  const char digit = descr == std::string::npos ? '?' : header[descr + 3];
  const Dtype dtype = digit == '2'   ? Dtype::float16
                      : digit == '4' ? Dtype::float32
                                     : Dtype::float64;
  Array array(Shape({rows, columns}), dtype);
  if (bytes.size() != 10 + header_size + static_cast<std::size_t>(array.size_bytes()))
    throw std::runtime_error(path.string() + " has another length than its header says");
  std::memcpy(array.mutable_data(), bytes.data() + 10 + header_size,
              static_cast<std::size_t>(array.size_bytes()));
  return array;
}

}  // namespace

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(SDPA_GOLDEN_DIR)) {
    if (!entry.is_directory()) continue;
    const auto& folder = entry.path();
    for (Dtype dtype : {Dtype::float16, Dtype::float32, Dtype::float64}) {
      const std::string file = std::string(name(dtype)) + ".npy";
      if (!std::filesystem::exists(folder / ("expected_" + file))) continue;
      GoldenCase golden{folder.filename().string() + " " + std::string(name(dtype)),
                        read_matrix(folder / "q.npy"),
                        read_matrix(folder / "k.npy"),
                        read_matrix(folder / "v.npy"),
                        dtype,
                        read_matrix(folder / ("expected_" + file)),
                        std::nullopt};
      if (std::filesystem::exists(folder / ("expected_weights_" + file)))
        golden.weights = read_matrix(folder / ("expected_weights_" + file));
      cases.push_back(std::move(golden));
    }
  }
  std::ranges::sort(cases, {}, &GoldenCase::name);
  return cases;
}

}  // namespace sdpa::oracle
