#pragma once

#include "array/dtype.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// What the commands share in reading their words. UsageErrors begin with the option at fault.

/// An option that takes one value. All its occurrences are kept, so that value_of can name them.
CLI::Option* add_option(CLI::App& app, const char* names, const char* value_name,
                        const char* description);

/// Lets `app` sort the words behind the command's name. Throws UsageError if they do not fit.
void parse_words(CLI::App& app, std::vector<std::string> words);

/// The value given for `option`; nothing if the option is not there. Throws UsageError if it is
/// there twice or its value is empty.
std::optional<std::string> value_of(const CLI::Option* option);

/// The float type called `word`. Throws UsageError if there is none.
Dtype dtype_from(std::string_view option, std::string_view word);

/// The value of --threads; absent: the processors this process may use.
int threads_from(const CLI::Option* option);

/// Standard input can be read once, whatever part of it an argument names: throws UsageError if two
/// of these options name it.
void require_one_standard_input(std::span<const CLI::Option* const> inputs);

}  // namespace sdpa
