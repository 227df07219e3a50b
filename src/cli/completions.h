#pragma once

#include <string>

namespace sdpa {

/// Scripts by which a shell completes the words of a command line: options of the command, their
/// choices, types and files.
std::string bash_completions();
std::string zsh_completions();
std::string fish_completions();

}  // namespace sdpa
