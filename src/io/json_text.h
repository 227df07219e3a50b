#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace sdpa {

/// The bytes as text for the JSON parser, which would take a zero byte for the end: Error if there
/// is one.
std::string_view json_text(std::span<const std::byte> bytes, std::string_view place);

/// Throws what the parser found wrong, in our words: `position` is how many bytes it has read.
[[noreturn]] void throw_json_error(std::string_view text, std::size_t position,
                                   std::string_view place);

}  // namespace sdpa
