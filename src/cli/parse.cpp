#include "attention/attention.h"
#include "base/error.h"
#include "base/parallel.h"
#include "cli/docs.h"
#include "cli/option_table.h"
#include "io/array_file.h"
#include "io/file.h"
#include "io/quote.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sdpa {

namespace {

/// An option of the table with all that was given for it, in the order of the command line.
struct Found {
  const OptionSpec* option;
  std::vector<Given> given;
};

std::string version_text() {
  std::string text = "sdpa " SDPA_VERSION " (";
  text += instruction_set_name();
  text += ")\n";
  return text;
}

bool is_standard_input(std::string_view word) {
  return word == "-" || word.starts_with("-:") || word.starts_with("-#");
}

/// "exact, float64 or float32"
std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// CLI11 finds the options and their values. A word by position is to it a word that belongs to no
// option, because "-:float32:5x3" may be one. Words of a command line hold no zero byte, so one of
// them shows where CLI11 would otherwise read an option without a value as something else: behind
// the "=" of "--name=", and as a word behind the last one.

std::vector<std::string> with_zeros(std::vector<std::string> words) {
  for (std::string& word : words)
    if (word.starts_with("--") && word.ends_with('=')) word += '\0';
  words.emplace_back(1, '\0');
  return words;
}

std::string without_zero(std::string word) {
  if (word.ends_with('\0')) word.pop_back();
  return word;
}

void add_to(CLI::App& app, const OptionSpec& option) {
  const std::string names(option.names);
  CLI::Option* added = option.kind == ValueKind::none ? app.add_flag(names) : app.add_option(names);
  added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

/// All that was given for an option that has a name.
std::vector<Given> given_for(const OptionSpec& option, const CLI::App& app) {
  std::vector<Given> given;
  const std::string name = option.long_name();
  for (const std::string& result : app.get_option(name)->results()) {
    const std::string word = without_zero(result);
    if (option.kind == ValueKind::none) {
      // To CLI11 an option without a value has the value "true".
      if (result != "true")
        throw UsageError(name, "takes no value, but there is " + in_quotes(word));
      given.push_back({name, ""});
      continue;
    }
    if (word.empty())
      throw UsageError(name, word.size() == result.size()
                                 ? "the value is empty"
                                 : "the value " + std::string(option.value) + " is missing");
    given.push_back({name, word});
  }
  if (given.size() > 1 && !option.repeatable && option.kind != ValueKind::none)
    throw UsageError(
        name, "given twice, as " + in_quotes(given[0].word) + " and " + in_quotes(given[1].word));
  return given;
}

/// The words that belong to no option, which are what `command` takes by position.
std::vector<std::string> words_by_position(const CLI::App& app) {
  std::vector<std::string> words;
  bool all_are = false;  // behind "--"
  for (const std::string& with_zero : app.remaining()) {
    if (with_zero == std::string(1, '\0')) continue;
    const std::string word = without_zero(with_zero);
    if (word == "--" && !std::exchange(all_are, true)) continue;
    if (!all_are && word.starts_with("-") && !is_standard_input(word))
      throw UsageError(word, "there is no such option");
    words.push_back(word);
  }
  return words;
}

[[noreturn]] void refuse_extra(Command command, const std::string& word, const std::string& first) {
  if (command == Command::attend)
    throw UsageError(word, "one case file is enough, and there is already " + place_of(first));
  throw UsageError(word, "one word too many");
}

/// The options of `command` that `app` has found, and the words by position.
std::vector<Found> find(Command command, const CLI::App& app) {
  const std::vector<std::string> words = words_by_position(app);
  std::vector<Found> all;
  auto next = words.begin();
  for (const OptionSpec* option : options_of(command)) {
    Found found{option, {}};
    if (!option->is_positional()) {
      found.given = given_for(*option, app);
    } else if (next != words.end()) {
      if (next->empty()) throw UsageError(option->long_name(), "an empty word names no file");
      found.given.push_back({option->long_name(), *next++});
    }
    if (!found.given.empty()) all.push_back(std::move(found));
  }
  if (next != words.end()) refuse_extra(command, *next, words.front());
  return all;
}

/// Which of the option's choices the word is; -1 if it is none and need not be.
int choice_of(const OptionSpec& option, const Given& given) {
  const auto choice = std::ranges::find(option.choices, given.word);
  if (choice != option.choices.end()) return static_cast<int>(choice - option.choices.begin());
  if (option.kind != ValueKind::choice) return -1;
  throw UsageError(given.name, in_quotes(given.word) + " is not " + listed(option.choices));
}

/// There must be a case file or all three operands, not both.
void require_inputs(const ProblemOptions& problem) {
  const std::pair<const char*, const std::string&> operands[] = {
      {"--query", problem.q}, {"--key", problem.k}, {"--value", problem.v}};
  const auto is_given = [](const auto& operand) { return !operand.second.empty(); };
  const auto given = std::ranges::find_if(operands, is_given);
  const auto missing = std::ranges::find_if_not(operands, is_given);
  if (problem.case_file) {
    if (given == std::end(operands)) return;
    throw UsageError(given->first, place_of(*problem.case_file) +
                                       " is a case file, which holds all three inputs");
  }
  if (given == std::end(operands)) throw UsageError("no input: give -q, -k and -v, or a case file");
  if (missing != std::end(operands))
    throw UsageError(missing->first, "missing; -q, -k and -v belong together");
}

void require(const char* name, const std::string& argument, const char* needed) {
  if (argument.empty()) throw UsageError(name, std::string("missing; ") + needed);
}

void require_tolerances_that_agree(const Tolerance& tolerance) {
  const std::pair<const char*, bool> given[] = {{"--max-ulp", tolerance.max_ulp.has_value()},
                                                {"--atol", tolerance.atol.has_value()},
                                                {"--rtol", tolerance.rtol.has_value()}};
  for (const auto& [name, is_given] : given)
    if (tolerance.bitwise && is_given) throw UsageError(name, "--bitwise allows no difference");
}

/// Standard input can be read once, whatever part of it an argument names.
void require_one_standard_input(const std::vector<Found>& all) {
  const Given* reader = nullptr;
  for (const Found& found : all) {
    if (found.option->kind != ValueKind::input) continue;
    for (const Given& given : found.given) {
      if (!is_standard_input(given.word)) continue;
      if (reader != nullptr)
        throw UsageError(given.name, "standard input is already read by " + reader->name);
      reader = &given;
    }
  }
}

/// `command` with its part of the options. Throws UsageError if they do not go together.
Request request(Command command, const AllOptions& o) {
  switch (command) {
    case Command::compare:
      require("ACTUAL", o.actual, "two files are compared, ACTUAL and EXPECTED");
      require("EXPECTED", o.expected, "two files are compared, ACTUAL and EXPECTED");
      require_tolerances_that_agree(o.tolerance);
      return CompareOptions{o.actual, o.expected, o.tolerance, o.json};
    case Command::check:
      require("ACTUAL", o.actual, "the output that is to be checked");
      require_inputs(o.problem);
      return CheckOptions{o.actual,     o.problem,          o.accumulate,
                          o.weights_in, o.settings.threads, o.json};
    default:
      require_inputs(o.problem);
      if (o.weights && is_same_output(*o.weights, o.output))
        throw UsageError("--weights", *o.weights + " is also the output");
      return AttendOptions{o.problem, o.output, o.weights, o.settings, o.progress};
  }
}

/// The command that the words name, and without its name the words.
Command take_command(std::vector<std::string>& words) {
  for (const Command command : {Command::compare, Command::check})
    if (!words.empty() && words.front() == name(command)) {
      words.erase(words.begin());
      return command;
    }
  return Command::attend;
}

}  // namespace

Request parse(std::vector<std::string> words) {
  const Command command = take_command(words);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (const OptionSpec* option : options_of(command))
    if (!option->is_positional()) add_to(app, *option);
  words = with_zeros(std::move(words));
  std::ranges::reverse(words);  // CLI11 takes them from the back
  app.parse(std::move(words));
  if (app.count("--help") > 0) return ShowOptions{help_text(command)};
  if (app.count("--version") > 0) return ShowOptions{version_text()};

  std::vector<Found> all = find(command, app);
  AllOptions options;
  options.settings.threads = available_processors();
  for (Found& found : all)
    for (Given& given : found.given) {
      given.choice = choice_of(*found.option, given);
      found.option->store(given, options);
    }
  options.settings.weights = options.weights.has_value();
  Request result = request(command, options);
  require_one_standard_input(all);
  return result;
}

}  // namespace sdpa
