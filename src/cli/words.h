#pragma once

#include "cli/option_table.h"

#include <string>
#include <vector>

namespace sdpa {

/// An option of the table with all that was given for it, in the order of the command line.
struct Found {
  const OptionSpec* option;
  std::vector<Given> given;
};

/// What the words behind a command's name are.
struct SortedWords {
  bool help = false, version = false;  ///< asked for: then nothing else counts
  std::vector<Found> options;          ///< those that are there, in the order of the table
};

/// Finds the options of `command` and the words by position. "-", "-:..." and "-#..." are standard
/// input; words behind "--" are no options.
///
/// Throws Error, beginning with the option or word at fault, if there is an option that `command`
/// does not have, one that is given twice or without its value, or a word too many.
SortedWords sort_words(Command command, std::vector<std::string> words);

bool is_standard_input(std::string_view word);

}  // namespace sdpa
