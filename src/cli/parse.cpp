#include "cli/options.h"

#include "base/error.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "cli/docs.h"
#include "io/array_file.h"
#include "io/quote.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace sdpa {

namespace {

/// More threads than any machine has processors; a number above it is a slip of the finger.
constexpr long long kMostThreads = 4096;

constexpr std::pair<std::string_view, Precision> kPrecisions[] = {
    {"exact", Precision::exact},
    {"float64", Precision::float64},
    {"float32", Precision::float32},
};

/// The options -q, -k and -v.
using Operands = std::array<const CLI::Option*, 3>;

/// An option that takes one value. All its occurrences are kept, so that value_of can name them.
CLI::Option* add_option(CLI::App& app, const char* names, const char* value_name,
                        const char* description) {
  return app.add_option(names)
      ->type_name(value_name)
      ->description(description)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// The value given for `option`; nothing if the option is not there.
std::optional<std::string> value_of(const CLI::Option* option) {
  const std::vector<std::string>& values = option->results();
  if (values.empty()) return std::nullopt;
  if (values.size() > 1)
    throw UsageError(option->get_name(),
                     "given twice, as " + in_quotes(values[0]) + " and " + in_quotes(values[1]));
  if (values[0].empty()) throw UsageError(option->get_name(), "the value is empty");
  return values[0];
}

Dtype dtype_from(std::string_view word) {
  const std::optional<Dtype> dtype = parse_dtype(word);
  if (!dtype || !is_float(*dtype))
    throw UsageError("--dtype", in_quotes(word) + " is not float16, bfloat16, float32 or float64");
  return *dtype;
}

Precision precision_from(std::string_view word) {
  for (const auto& [name, precision] : kPrecisions)
    if (word == name) return precision;
  throw UsageError("--precision", in_quotes(word) + " is not exact, float64 or float32");
}

int threads_from(std::string_view word) {
  const std::optional<long long> threads = parse_integer(word);
  if (!threads) throw UsageError("--threads", in_quotes(word) + " is not a number");
  if (*threads < 1 || *threads > kMostThreads)
    throw UsageError("--threads",
                     in_quotes(word) + " is not between 1 and " + std::to_string(kMostThreads));
  return static_cast<int>(*threads);
}

/// The file that `path` names, however it is written.
std::filesystem::path resolved(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path found = std::filesystem::weakly_canonical(absolute, error);
  return error ? absolute : found;
}

/// Words that belong to no option and are not the case file.
void refuse_extra(const std::vector<std::string>& words, const CLI::Option* case_file) {
  for (const std::string& word : words) {
    if (word == "--") continue;
    if (word.starts_with("-")) throw UsageError(word, "there is no such option");
    throw UsageError(word, "one case file is enough, and there is already " +
                               place_of(case_file->results().front()));
  }
}

/// There must be a case file or all three operands, not both.
void require_inputs(const CLI::Option* case_file, const Operands& operands) {
  const auto is_given = [](const CLI::Option* option) { return option->count() > 0; };
  const auto given = std::ranges::find_if(operands, is_given);
  const auto missing = std::ranges::find_if_not(operands, is_given);
  if (is_given(case_file)) {
    if (given == operands.end()) return;
    throw UsageError((*given)->get_name(), place_of(case_file->results().front()) +
                                               " is a case file, which holds all three inputs");
  }
  if (given == operands.end()) throw UsageError("no input: give -q, -k and -v, or a case file");
  if (missing != operands.end())
    throw UsageError((*missing)->get_name(), "missing; -q, -k and -v belong together");
}

/// Standard input can be read once, whatever part of it an argument names.
void require_one_standard_input(const Operands& operands) {
  const CLI::Option* reader = nullptr;
  for (const CLI::Option* operand : operands) {
    const std::string argument = value_of(operand).value_or("");
    const bool is_standard_input =
        argument == "-" || argument.starts_with("-:") || argument.starts_with("-#");
    if (!is_standard_input) continue;
    if (reader != nullptr)
      throw UsageError(operand->get_name(),
                       "standard input is already read by " + reader->get_name());
    reader = operand;
  }
}

Request parse_attend(std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* case_file = app.add_option("case")->expected(1);
  const CLI::Option* q = add_option(app, "-q,--query", "FILE", "queries (T_q, d_k)");
  const CLI::Option* k = add_option(app, "-k,--key", "FILE", "keys (T_k, d_k)");
  const CLI::Option* v = add_option(app, "-v,--value", "FILE", "values (T_k, d_v)");
  const CLI::Option* output = add_option(app, "-o,--output", "FILE",
                                         ".npy, .json or .bin; default: JSON on standard output");
  const CLI::Option* weights =
      add_option(app, "-w,--weights", "FILE", "also write the weights (T_q, T_k)");
  const CLI::Option* dtype =
      add_option(app, "--dtype", "TYPE", "of what is written: float16, bfloat16, float32, float64");
  const CLI::Option* precision =
      add_option(app, "--precision", "P", "exact (the default), float64 or float32");
  const CLI::Option* threads =
      add_option(app, "--threads", "N", "default: all processors; changes no byte of a result");
  const CLI::Option* help = app.add_flag("--help")->description("print this text");
  const CLI::Option* version = app.add_flag("--version")->description("print the version");

  std::ranges::reverse(words);  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (help->count() > 0) return ShowOptions{help_text(app)};
  if (version->count() > 0) return ShowOptions{"sdpa " SDPA_VERSION "\n"};
  refuse_extra(app.remaining(), case_file);

  AttendOptions options;
  const Operands operands = {q, k, v};
  require_inputs(case_file, operands);
  require_one_standard_input(operands);
  options.case_file = value_of(case_file);
  options.q = value_of(q).value_or("");
  options.k = value_of(k).value_or("");
  options.v = value_of(v).value_or("");
  if (const auto path = value_of(output)) options.output = *path;
  options.weights = value_of(weights);
  if (options.weights && resolved(*options.weights) == resolved(options.output))
    throw UsageError("--weights", *options.weights + " is also the output");
  if (const auto word = value_of(dtype)) options.settings.dtype = dtype_from(*word);
  if (const auto word = value_of(precision)) options.settings.precision = precision_from(*word);
  const auto word = value_of(threads);
  options.settings.threads = word ? threads_from(*word) : available_processors();
  options.settings.weights = options.weights.has_value();
  return options;
}

}  // namespace

Request parse(std::vector<std::string> words) {
  return parse_attend(std::move(words));
}

}  // namespace sdpa
