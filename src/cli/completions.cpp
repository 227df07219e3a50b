#include "cli/completions.h"

#include "array/dtype.h"
#include "cli/option_table.h"

#include <string_view>
#include <vector>

namespace sdpa {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string command_words() {
  std::vector<std::string> words;
  for (const Command command : kCommands)
    if (!name(command).empty()) words.emplace_back(name(command));
  return joined(words);
}

/// The values that a shell can propose; none where it is a file or anything.
std::string value_words(const OptionSpec& option) {
  std::vector<std::string> words(option.choices.begin(), option.choices.end());
  if (option.kind == ValueKind::float_type)
    for (const Dtype dtype : float_types()) words.emplace_back(name(dtype));
  return joined(words);
}

bool takes_file(const OptionSpec& option) {
  return option.kind == ValueKind::input || option.kind == ValueKind::output ||
         option.kind == ValueKind::lengths;
}

std::vector<const OptionSpec*> named_options(Command command) {
  std::vector<const OptionSpec*> options = options_of(command);
  std::erase_if(options, [](const OptionSpec* option) { return option->is_positional(); });
  return options;
}

/// In single quotes, as bash, zsh and fish read them.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// A description within the brackets of zsh's _arguments, where these and colons have a meaning.
std::string zsh_escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::string bash_completions() {
  std::string options, values;
  for (const Command command : kCommands) {
    std::vector<std::string> names;
    for (const OptionSpec* option : named_options(command)) {
      if (!option->short_name().empty()) names.push_back(option->short_name());
      names.push_back(option->long_name());
      if (option->kind == ValueKind::none) continue;
      std::string pattern = std::string(name(command)) + ":" + option->long_name();
      if (!option->short_name().empty())
        pattern += "|" + std::string(name(command)) + ":" + option->short_name();
      const std::string words = value_words(*option);
      const bool proposes = !words.empty() || !takes_file(*option);
      values += "    " + pattern + ") " +
                (proposes ? "words=" + quoted(words) + " only=1" : "only=") + " ;;\n";
    }
    options += "      " + (name(command).empty() ? "''" : std::string(name(command))) +
               ") words=" + quoted(joined(names)) + " ;;\n";
  }
  return R"(# bash completion of sdpa
_sdpa() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' words='' only=''
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case " )" +
         command_words() + R"( " in
    *" ${COMP_WORDS[1]} "*) ((COMP_CWORD == 1)) || command=${COMP_WORDS[1]} ;;
  esac
  case $command:$prev in
)" + values +
         R"(    *)
      if [[ $cur == -* ]]; then
        case $command in
)" + options +
         R"(        esac
      elif ((COMP_CWORD == 1)); then
        words=')" +
         command_words() + R"('
      fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ -n $only || $cur == -* ]] || COMPREPLY+=($(compgen -f -- "$cur"))
}
complete -o filenames -F _sdpa sdpa
)";
}

std::string zsh_completions() {
  std::string functions;
  for (const Command command : kCommands) {
    const std::string word(name(command));
    functions += "_sdpa" + (word.empty() ? "" : "_" + word) + "_options() {\n  _arguments -s -S";
    for (const OptionSpec* option : options_of(command)) {
      std::string value;
      if (option->kind != ValueKind::none) {
        const std::string words = value_words(*option);
        value = ":" + zsh_escaped(option->value) + ":" +
                (!words.empty()        ? "(" + words + ")"
                 : takes_file(*option) ? "_files"
                                       : " ");
      }
      functions += " \\\n    ";
      if (option->is_positional()) {
        functions += quoted(":" + option->long_name() + ":_files");
        continue;
      }
      const std::string about = "[" + zsh_escaped(option->description) + "]" + value;
      const std::string repeats = option->repeatable ? "*" : "";
      const std::string equals = option->kind == ValueKind::none ? "" : "=";
      const std::string one = option->short_name(), both = option->long_name();
      if (!one.empty()) {
        const std::string others = option->repeatable ? "" : "(" + one + " " + both + ")";
        functions +=
            quoted(others + repeats + one + (equals.empty() ? "" : "+") + about) + " \\\n    ";
        functions += quoted(others + repeats + both + equals + about);
      } else {
        functions += quoted(repeats + both + equals + about);
      }
    }
    functions += "\n}\n\n";
  }
  return "#compdef sdpa\n\n" + functions + R"(_sdpa() {
  local commands=()" +
         command_words() + R"()
  if ((CURRENT > 2)) && ((${commands[(Ie)${words[2]}]})); then
    local command=${words[2]}
    shift words
    ((CURRENT--))
    _sdpa_${command}_options
    return
  fi
  ((CURRENT != 2)) || compadd -a commands
  _sdpa_options
}

_sdpa "$@"
)";
}

std::string fish_completions() {
  const std::string commands = command_words();
  std::string text = "complete -c sdpa -n '__fish_is_first_token' -a '" + commands + "'\n";
  for (const Command command : kCommands)
    for (const OptionSpec* option : named_options(command)) {
      const std::string condition =
          name(command).empty() ? "not __fish_seen_subcommand_from " + commands
                                : "__fish_seen_subcommand_from " + std::string(name(command));
      text += "complete -c sdpa -n " + quoted(condition);
      if (!option->short_name().empty()) text += " -s " + option->short_name().substr(1);
      text += " -l " + option->long_name().substr(2);
      const std::string words = value_words(*option);
      if (!words.empty())
        text += " -x -a " + quoted(words);
      else if (takes_file(*option))
        text += " -r -F";
      else if (option->kind != ValueKind::none)
        text += " -x";
      text += " -d " + quoted(option->description) + "\n";
    }
  return text;
}

}  // namespace sdpa
