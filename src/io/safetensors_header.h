#pragma once

#include "base/index.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// One tensor of a .safetensors header. Offsets count from the end of the header.
struct Tensor {
  std::string name;
  std::string dtype;
  std::vector<Index> shape;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Parses the JSON of a header into its tensors, in order of their offsets. "__metadata__" may hold
/// texts, which are skipped.
///
/// Throws Error that begins with `place` if the text is anything else, if a name or a field is
/// missing or there twice, or if the tensors do not lie one directly after the other over
/// `data_size` bytes.
std::vector<Tensor> parse_safetensors_header(std::span<const std::byte> text, std::size_t data_size,
                                             std::string_view place);

}  // namespace sdpa
