#include "cli/options.h"

#include "attention/attention.h"
#include "base/error.h"
#include "cli/docs.h"
#include "cli/option_values.h"
#include "cli/parse_reports.h"
#include "io/array_file.h"
#include "io/file.h"
#include "io/quote.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace sdpa {

namespace {

std::string version_text() {
  std::string text = "sdpa " SDPA_VERSION " (";
  text += instruction_set_name();
  text += ")\n";
  return text;
}

constexpr std::pair<std::string_view, Precision> kPrecisions[] = {
    {"exact", Precision::exact},
    {"float64", Precision::float64},
    {"float32", Precision::float32},
};

constexpr std::pair<std::string_view, ShowProgress> kShowProgress[] = {
    {"auto", ShowProgress::automatic},
    {"always", ShowProgress::always},
    {"never", ShowProgress::never},
};

/// The options -q, -k and -v.
using Operands = std::array<const CLI::Option*, 3>;

/// What `word` means for an option with these names of values, which `names` lists for the message.
template <class Value, std::size_t count>
Value choice_from(std::string_view option, std::string_view word,
                  const std::pair<std::string_view, Value> (&choices)[count],
                  std::string_view names) {
  for (const auto& [name, value] : choices)
    if (word == name) return value;
  throw UsageError(option, in_quotes(word) + " is not " + std::string(names));
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
  const CLI::Option* progress =
      add_option(app, "--progress", "WHEN", "auto (the default: on a terminal), always or never");
  const CLI::Option* help = app.add_flag("--help")->description("print this text");
  const CLI::Option* version = app.add_flag("--version")->description("print the version");

  parse_words(app, std::move(words));
  if (help->count() > 0) return ShowOptions{help_text(app)};
  if (version->count() > 0) return ShowOptions{version_text()};
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
  if (options.weights && is_same_output(*options.weights, options.output))
    throw UsageError("--weights", *options.weights + " is also the output");
  if (const auto word = value_of(dtype)) options.settings.dtype = dtype_from("--dtype", *word);
  if (const auto word = value_of(precision))
    options.settings.precision =
        choice_from("--precision", *word, kPrecisions, "exact, float64 or float32");
  if (const auto word = value_of(progress))
    options.progress = choice_from("--progress", *word, kShowProgress, "auto, always or never");
  options.settings.threads = threads_from(threads);
  options.settings.weights = options.weights.has_value();
  return options;
}

}  // namespace

Request parse(std::vector<std::string> words) {
  const std::string command = words.empty() ? "" : words.front();
  if (command != "compare" && command != "check") return parse_attend(std::move(words));
  words.erase(words.begin());
  if (command == "compare") return parse_compare(std::move(words));
  return parse_check(std::move(words));
}

}  // namespace sdpa
