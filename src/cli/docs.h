#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sdpa {

/// The text of --help of each command: usage and examples, then a line for each option that `app`
/// has, with its names, the type of its value and its description. No line is longer than 80
/// columns.
std::string help_text(const CLI::App& app);
std::string compare_help_text(const CLI::App& app);
std::string check_help_text(const CLI::App& app);

}  // namespace sdpa
