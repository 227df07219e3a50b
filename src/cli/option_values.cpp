#include "cli/option_values.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "io/quote.h"

#include <algorithm>
#include <utility>

namespace sdpa {

namespace {

/// More threads than any machine has processors; a number above it is a slip of the finger.
constexpr long long kMostThreads = 4096;

}  // namespace

CLI::Option* add_option(CLI::App& app, const char* names, const char* value_name,
                        const char* description) {
  return app.add_option(names)
      ->type_name(value_name)
      ->description(description)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void parse_words(CLI::App& app, std::vector<std::string> words) {
  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

std::optional<std::string> value_of(const CLI::Option* option) {
  const std::vector<std::string>& values = option->results();
  if (values.empty()) return std::nullopt;
  if (values.size() > 1)
    throw UsageError(option->get_name(),
                     "given twice, as " + in_quotes(values[0]) + " and " + in_quotes(values[1]));
  if (values[0].empty()) throw UsageError(option->get_name(), "the value is empty");
  return values[0];
}

Dtype dtype_from(std::string_view option, std::string_view word) {
  const std::optional<Dtype> dtype = parse_dtype(word);
  if (!dtype || !is_float(*dtype))
    throw UsageError(option, in_quotes(word) + " is not float16, bfloat16, float32 or float64");
  return *dtype;
}

int threads_from(const CLI::Option* option) {
  const std::optional<std::string> word = value_of(option);
  if (!word) return available_processors();
  const std::optional<long long> threads = parse_integer(*word);
  if (!threads) throw UsageError("--threads", in_quotes(*word) + " is not a number");
  if (*threads < 1 || *threads > kMostThreads)
    throw UsageError("--threads",
                     in_quotes(*word) + " is not between 1 and " + std::to_string(kMostThreads));
  return static_cast<int>(*threads);
}

void require_one_standard_input(std::span<const CLI::Option* const> inputs) {
  const CLI::Option* reader = nullptr;
  for (const CLI::Option* input : inputs) {
    const std::string argument = value_of(input).value_or("");
    const bool is_standard_input =
        argument == "-" || argument.starts_with("-:") || argument.starts_with("-#");
    if (!is_standard_input) continue;
    if (reader != nullptr)
      throw UsageError(input->get_name(),
                       "standard input is already read by " + reader->get_name());
    reader = input;
  }
}

}  // namespace sdpa
