#pragma once

#include <string>
#include <string_view>

namespace sdpa {

/// The text with control characters as \xNN, so that a message stays one line whatever a file is
/// called.
std::string printable(std::string_view text);

/// Words out of a file for a message: in single quotes, printable ASCII only (the rest as \xNN),
/// and cut after 40 bytes.
std::string in_quotes(std::string_view text);

}  // namespace sdpa
