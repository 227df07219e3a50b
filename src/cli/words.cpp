#include "cli/words.h"

#include "base/error.h"
#include "cli/suggest.h"
#include "io/array_file.h"
#include "io/file.h"
#include "io/quote.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <utility>

namespace sdpa {

namespace {

/// "sdpa", "sdpa check"
std::string full_name(Command command) {
  const std::string_view word = name(command);
  return word.empty() ? "sdpa" : "sdpa " + std::string(word);
}

/// What to do about a name that does not exist.
std::string advice(Command command, const std::string& suggestion) {
  return suggestion.empty() ? "; see " + full_name(command) + " --help"
                            : "; did you mean " + suggestion + "?";
}

/// All names of the options of a command, as "-q" and "--query".
std::vector<std::string> option_names(Command command) {
  std::vector<std::string> names;
  for (const OptionSpec* option : options_of(command)) {
    if (option->is_positional()) continue;
    names.push_back(option->long_name());
    if (!option->short_name().empty()) names.push_back(option->short_name());
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

[[noreturn]] void refuse_option(Command command, const std::string& word) {
  const std::string option = word.substr(0, word.find('='));
  std::string owners;
  for (const Command other : kCommands)
    if (has(option_names(other), option))
      owners += (owners.empty() ? "" : " and ") + full_name(other);
  if (!owners.empty()) throw Error(option, "there is no such option here; it belongs to " + owners);
  throw Error(option, "there is no such option" +
                          advice(command, nearest_word(option, option_names(command))));
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

/// Values that are legal names of files, but are there by a slip unless there is such a file.
void refuse_slip(Command command, const OptionSpec& option, const std::string& word) {
  const bool is_file = option.kind == ValueKind::input || option.kind == ValueKind::output;
  if (!is_file || file_exists(word)) return;
  const std::string name = option.long_name();
  const std::vector<std::string> names = option_names(command);
  if (has(names, word))
    throw Error(name,
                "the value " + std::string(option.value) + " is missing; behind it stands " + word);
  if (option.short_name().empty()) return;
  if (word.starts_with("="))
    throw Error(name, "the value " + in_quotes(word) + " begins with '='; write " +
                          option.short_name() + " " + word.substr(1));
  const std::string one_dash = option.short_name() + word;
  if (has(names, "-" + one_dash))
    throw Error(one_dash, "there is no such option; did you mean -" + one_dash + "?");
}

/// All that was given for an option that has a name.
std::vector<Given> given_for(const OptionSpec& option, Command command, const CLI::App& app) {
  std::vector<Given> given;
  const std::string name = option.long_name();
  for (const std::string& result : app.get_option(name)->results()) {
    const std::string word = without_zero(result);
    if (option.kind == ValueKind::none) {
      // To CLI11 an option without a value has the value "true".
      if (result != "true") throw Error(name, "takes no value, but there is " + in_quotes(word));
      given.push_back({name, ""});
      continue;
    }
    if (word.empty())
      throw Error(name, word.size() == result.size()
                            ? "the value is empty"
                            : "the value " + std::string(option.value) + " is missing");
    refuse_slip(command, option, word);
    given.push_back({name, word});
  }
  if (given.size() > 1 && !option.repeatable && option.kind != ValueKind::none)
    throw Error(name,
                "given twice, as " + in_quotes(given[0].word) + " and " + in_quotes(given[1].word));
  return given;
}

/// The words that belong to no option, which are what `command` takes by position.
std::vector<std::string> words_by_position(Command command, const CLI::App& app) {
  std::vector<std::string> words;
  bool all_are = false;  // behind "--"
  for (const std::string& with_zero : app.remaining()) {
    if (with_zero == std::string(1, '\0')) continue;
    const std::string word = without_zero(with_zero);
    if (word == "--" && !std::exchange(all_are, true)) continue;
    if (!all_are && word.starts_with("-") && !is_standard_input(word)) refuse_option(command, word);
    words.push_back(word);
  }
  return words;
}

/// A plain word for a case file that is not there was meant as the name of a command.
void refuse_commands(const std::vector<std::string>& words) {
  std::vector<std::string> commands;
  for (const Command command : kCommands)
    if (!name(command).empty()) commands.emplace_back(name(command));
  for (const std::string& word : words)
    if (has(commands, word) && !file_exists(word))
      throw Error(word, "the name of a command comes first");
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (words.empty() || words.front().empty() || !std::ranges::all_of(words.front(), is_letter) ||
      file_exists(words.front()))
    return;
  throw Error(words.front(), "there is no such command, nor a file of this name" +
                                 advice(Command::attend, nearest_word(words.front(), commands)));
}

[[noreturn]] void refuse_extra(Command command, const std::string& word, const std::string& first) {
  if (command == Command::attend)
    throw Error(place_of(word), "one case file is enough, and there is already " + place_of(first));
  std::string names;
  for (const OptionSpec* option : options_of(command))
    if (option->is_positional()) names += (names.empty() ? "" : " and ") + option->long_name();
  throw Error(word, "one word too many; " + full_name(command) + " takes only " + names);
}

}  // namespace

bool is_standard_input(std::string_view word) {
  return word == "-" || word.starts_with("-:") || word.starts_with("-#") || word.starts_with("-[");
}

SortedWords sort_words(Command command, std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (const OptionSpec* option : options_of(command))
    if (!option->is_positional()) add_to(app, *option);
  words = with_zeros(std::move(words));
  std::ranges::reverse(words);  // CLI11 takes them from the back
  app.parse(std::move(words));

  SortedWords sorted;
  sorted.help = app.count("--help") > 0;
  sorted.version = app.count("--version") > 0;
  if (sorted.help || sorted.version) return sorted;

  const std::vector<std::string> by_position = words_by_position(command, app);
  if (command == Command::attend) refuse_commands(by_position);
  auto next = by_position.begin();
  for (const OptionSpec* option : options_of(command)) {
    Found found{option, {}};
    if (!option->is_positional()) {
      found.given = given_for(*option, command, app);
    } else if (next != by_position.end()) {
      if (next->empty()) throw Error(option->long_name(), "an empty word names no file");
      found.given.push_back({option->long_name(), *next++});
    }
    if (!found.given.empty()) sorted.options.push_back(std::move(found));
  }
  if (next != by_position.end()) refuse_extra(command, *next, by_position.front());
  return sorted;
}

}  // namespace sdpa
