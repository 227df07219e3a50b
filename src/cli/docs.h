#pragma once

#include "cli/option_table.h"

#include <string>

namespace sdpa {

/// The text of --help: usage and examples, then the options of the command in their groups, with
/// names, value and description. No line is longer than 80 columns.
std::string help_text(Command command);

}  // namespace sdpa
