#pragma once

#include "cli/option_table.h"

#include <string>
#include <string_view>

namespace sdpa {

/// What --help begins with: usage, what the command does, and examples.
std::string_view usage(Command command);

/// The text of --help: usage and examples, then the options of the command in their groups, with
/// names, value and description. No line is longer than 80 columns.
std::string help_text(Command command);

}  // namespace sdpa
