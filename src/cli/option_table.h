#pragma once

#include "cli/options.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

enum class Command { attend, compare, check, mask };
constexpr Command kCommands[] = {Command::attend, Command::compare, Command::check, Command::mask};

/// Its word on the command line; empty for attend.
std::string_view name(Command command);

/// What the options of all commands are stored into; each command takes its part when all words are
/// read.
struct AllOptions {
  ProblemOptions problem;
  std::string actual, expected;
  std::optional<std::string> output;
  std::optional<std::string> weights, lse, scores;
  std::optional<ScoreStage> scores_after;
  std::optional<OutputForm> format;
  Settings settings;
  ShowProgress progress = ShowProgress::automatic;
  Tolerance tolerance;
  DeclaredArithmetic arithmetic;
  bool strict = false;
  std::optional<std::string> error_map;
  bool json = false, verbose = false, lines = false;
  std::optional<Shape> shape;
  std::optional<Generated> generate;
};

/// One occurrence of an option, as typed.
struct Given {
  std::string name;  ///< as messages call it: "--query", "ACTUAL"
  std::string word;  ///< its value, not empty unless the option takes none
  int choice = -1;   ///< which of the option's choices it is; -1: none
};

/// What the value of an option is.
enum class ValueKind {
  none,        ///< a switch
  input,       ///< an argument of read_array or read_case
  lengths,     ///< numbers joined by commas, or an argument of read_array
  output,      ///< a path, or "-"
  float_type,  ///< the name of a type of results
  choice,      ///< one of `choices`
  text,        ///< anything else
};

/// One option, or one word without an option, of one or more commands.
struct OptionSpec {
  std::string_view names;  ///< "-q,--query", "--threads"; in capitals if it is a word by position
  std::string_view value;  ///< its name in the help, as "FILE"
  std::string_view description;  ///< for the help, which breaks it into lines
  std::string_view group;        ///< heading in the help
  std::vector<Command> commands;
  ValueKind kind;

  /// Puts an occurrence where it belongs; throws Error, beginning with the name, if the value
  /// is none of those allowed.
  std::function<void(const Given&, AllOptions&)> store;

  /// Words that the value may be; those that name the values of an enum stand in its order.
  std::vector<std::string_view> choices = {};
  bool repeatable = false;  ///< may be given several times

  bool is_positional() const { return names.front() != '-'; }
  bool belongs_to(Command command) const;

  std::string short_name() const;  ///< "-q", or empty
  std::string long_name() const;   ///< "--query"; the word of a positional one
};

/// All options, in the order of the help. Parsing and help come from this table alone.
const std::vector<OptionSpec>& option_table();

/// Those of one command.
std::vector<const OptionSpec*> options_of(Command command);

}  // namespace sdpa
