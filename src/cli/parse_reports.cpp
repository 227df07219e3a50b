#include "cli/parse_reports.h"

#include "base/error.h"
#include "base/numbers.h"
#include "cli/docs.h"
#include "cli/option_values.h"
#include "io/quote.h"

#include <array>
#include <optional>
#include <utility>

namespace sdpa {

namespace {

/// The value of an option for a tolerance; nothing if it is not there.
std::optional<double> size_of(const CLI::Option* option) {
  const std::optional<std::string> word = value_of(option);
  if (!word) return std::nullopt;
  const std::optional<double> size = parse_double(*word);
  if (!size) throw UsageError(option->get_name(), in_quotes(*word) + " is not a number");
  if (!(*size >= 0) || *size - *size != 0)
    throw UsageError(option->get_name(), in_quotes(*word) + " is not a size: 0 or more, finite");
  return size;
}

std::optional<std::uint64_t> steps_of(const CLI::Option* option) {
  const std::optional<std::string> word = value_of(option);
  if (!word) return std::nullopt;
  const std::optional<long long> steps = parse_integer(*word);
  if (!steps || *steps < 0)
    throw UsageError(option->get_name(), in_quotes(*word) + " is not a count: 0, 1, 2, ...");
  return static_cast<std::uint64_t>(*steps);
}

void refuse_unknown(const CLI::App& app) {
  for (const std::string& word : app.remaining()) {
    if (word == "--") continue;
    if (word.size() > 1 && word.starts_with("-")) throw UsageError(word, "there is no such option");
    throw UsageError(word, "one word too many");
  }
}

/// The value of an input that must be there.
std::string input_of(const CLI::Option* option, const char* needed) {
  const std::optional<std::string> argument = value_of(option);
  if (!argument) throw UsageError(option->get_name(), std::string("missing; ") + needed);
  return *argument;
}

/// An option without a value; CLI11 by itself would take "--json=false" too.
const CLI::Option* add_switch(CLI::App& app, const char* name, const char* description) {
  return app.add_flag(name)->description(description)->disable_flag_override();
}

}  // namespace

Request parse_compare(std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* actual = app.add_option("ACTUAL")->expected(1);
  const CLI::Option* expected = app.add_option("EXPECTED")->expected(1);
  const CLI::Option* bitwise =
      add_switch(app, "--bitwise", "the same bits: signs of zeros and NaN too");
  const CLI::Option* max_ulp =
      add_option(app, "--max-ulp", "N", "allow N steps of the less precise of the two types");
  const CLI::Option* atol = add_option(app, "--atol", "X", "allow X + Y |expected|");
  const CLI::Option* rtol = add_option(app, "--rtol", "Y", "the Y of --atol");
  const CLI::Option* nan_equal = add_switch(app, "--nan-equal", "a NaN equals a NaN");
  const CLI::Option* json = add_switch(app, "--json", "the report as one JSON object");
  const CLI::Option* help = add_switch(app, "--help", "print this text");

  parse_words(app, std::move(words));
  if (help->count() > 0) return ShowOptions{compare_help_text(app)};
  refuse_unknown(app);
  CompareOptions options;
  options.actual = input_of(actual, "two files are compared, ACTUAL and EXPECTED");
  options.expected = input_of(expected, "two files are compared, ACTUAL and EXPECTED");
  const std::array inputs = {actual, expected};
  require_one_standard_input(inputs);
  options.tolerance = {bitwise->count() > 0, steps_of(max_ulp), size_of(atol), size_of(rtol),
                       nan_equal->count() > 0};
  for (const CLI::Option* tolerance : {max_ulp, atol, rtol})
    if (bitwise->count() > 0 && tolerance->count() > 0)
      throw UsageError(tolerance->get_name(), "--bitwise allows no difference");
  options.json = json->count() > 0;
  return options;
}

Request parse_check(std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* actual = app.add_option("ACTUAL")->expected(1);
  const CLI::Option* q = add_option(app, "-q,--query", "FILE", "queries (T_q, d_k)");
  const CLI::Option* k = add_option(app, "-k,--key", "FILE", "keys (T_k, d_k)");
  const CLI::Option* v = add_option(app, "-v,--value", "FILE", "values (T_k, d_v)");
  const CLI::Option* accumulate =
      add_option(app, "--accumulate", "TYPE", "of the kernel's sums; default: float32, or float64");
  const CLI::Option* weights_in =
      add_option(app, "--weights-in", "TYPE", "of its weights; default: that of v, if of 16 bits");
  const CLI::Option* threads =
      add_option(app, "--threads", "N", "default: all processors; changes no byte of a result");
  const CLI::Option* json = add_switch(app, "--json", "the report as one JSON object");
  const CLI::Option* help = add_switch(app, "--help", "print this text");

  parse_words(app, std::move(words));
  if (help->count() > 0) return ShowOptions{check_help_text(app)};
  refuse_unknown(app);
  CheckOptions options;
  options.actual = input_of(actual, "the output that is to be checked");
  options.q = input_of(q, "-q, -k and -v belong together");
  options.k = input_of(k, "-q, -k and -v belong together");
  options.v = input_of(v, "-q, -k and -v belong together");
  const std::array inputs = {actual, q, k, v};
  require_one_standard_input(inputs);
  if (const auto word = value_of(accumulate))
    options.accumulate = dtype_from("--accumulate", *word);
  if (const auto word = value_of(weights_in))
    options.weights_in = dtype_from("--weights-in", *word);
  options.threads = threads_from(threads);
  options.json = json->count() > 0;
  return options;
}

}  // namespace sdpa
