#pragma once

#include "io/case.h"
#include "io/file.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace sdpa {

/// Whether bytes begin as a .safetensors file does: the length of a header that fits into them,
/// then its opening brace.
bool is_safetensors(std::span<const std::byte> bytes);

/// Reads the tensor called `name`, in the file's memory where it is aligned for its type.
///
/// Throws Error that begins with `place` if the header is not the JSON object that the format asks
/// for, if a name is there twice, if the tensors overlap, leave a gap or do not end with the file,
/// if no tensor has the name, or if its type or size is not one that sdpa takes.
Array read_safetensors(const FileBytes& file, std::string_view name, std::string_view place);

/// Reads a file of exactly the tensors "q", "k" and "v". Throws Error as above.
Case read_safetensors_case(const FileBytes& file, std::string_view place);

}  // namespace sdpa
