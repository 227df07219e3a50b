#pragma once

#include "io/members.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// Whether bytes begin as a .safetensors file does: the length of a header that fits into them,
/// then its opening brace.
bool is_safetensors(std::span<const std::byte> bytes);

/// Opens a file of tensors; each is read in the file's memory where it is aligned for its type.
///
/// Throws Error that begins with `place` if the header is not the JSON object that the format asks
/// for, if a name is there twice, if the tensors overlap, leave a gap or do not end with the file; and
/// when a tensor is read, if its type or size is not one that sdpa takes.
std::unique_ptr<MemberFile> open_safetensors(const FileBytes& file, std::string_view place);

/// A tensor that is to be written.
struct NewTensor {
  std::string name;
  Shape shape;
  Dtype dtype;
};

/// All before the values of the tensors, which follow in this order without gaps. Padded by blanks, so
/// that the first one begins at a multiple of 8 bytes.
std::string safetensors_header(const std::vector<NewTensor>& tensors);

}  // namespace sdpa
