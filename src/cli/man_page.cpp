#include "cli/man_page.h"

#include "cli/docs.h"
#include "cli/option_table.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sdpa {

namespace {

constexpr std::string_view kHead =
    R"(.TH SDPA 1 ")" SDPA_DATE R"(" "sdpa )" SDPA_VERSION R"(" "User Commands"
.SH NAME
sdpa \- exact scaled dot-product attention on files
)";

constexpr std::string_view kTail = R"(.SH EXIT STATUS
.TP
0
Done; equal, or within the bound.
.TP
1
.B compare
found a difference, or
.B check
a value outside the bound.
.TP
2
Anything else.
.SH ENVIRONMENT
.TP
.B SDPA_FORCE_ISA
The instruction set to use, by the name that
.B sdpa \-\-version
gives.
It changes no byte of a result.
)";

/// Text in which nothing is a request of roff, and every sign is that of the keyboard.
std::string escaped(std::string_view text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    line_begins = c == '\n';
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '`':
        result += "\\(ga";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string as_it_is(std::string_view lines) {
  return ".nf\n" + escaped(lines) + ".fi\n";
}

/// Parts of a text between empty lines, each with the end of its last line.
std::vector<std::string_view> paragraphs(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    parts.push_back(text.substr(0, end == text.npos ? end : end + 1));
    text.remove_prefix(end == text.npos ? text.size() : end + 2);
  }
  return parts;
}

/// Lines that begin with `title`, without it and the blanks that it stands for in the others.
std::string behind(std::string_view title, std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end);
    if (line.starts_with(title)) line.remove_prefix(title.size());
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line != "\n") text += line;
  }
  return text;
}

/// What the text before the options is made of.
struct Usage {
  std::string synopsis, about, examples;
};

Usage usage_parts(Command command) {
  Usage parts;
  for (const std::string_view part : paragraphs(usage(command)))
    if (part.starts_with("Usage:"))
      parts.synopsis = behind("Usage:", part);
    else if (part.starts_with("Examples:"))
      parts.examples = behind("Examples:", part);
    else
      parts.about += (parts.about.empty() ? "" : ".PP\n") +
                     (part.find("\n ") == part.npos ? escaped(part) : as_it_is(part));
  return parts;
}

std::string option_text(const OptionSpec& option) {
  std::string text = ".TP\n";
  if (!option.short_name().empty()) text += "\\fB" + escaped(option.short_name()) + "\\fR, ";
  text += "\\fB" + escaped(option.long_name()) + "\\fR";
  if (!option.value.empty()) text += " \\fI" + escaped(option.value) + "\\fR";
  return text + "\n" + escaped(option.description) + "\n";
}

std::string options_text(Command command) {
  std::string text;
  std::string_view group;
  for (const OptionSpec* option : options_of(command)) {
    if (option->is_positional()) continue;
    if (option->group != group) text.append(".SS ").append(option->group).append("\n");
    group = option->group;
    text += option_text(*option);
  }
  return text;
}

}  // namespace

std::string man_page() {
  std::string text(kHead), examples;
  text += ".SH SYNOPSIS\n" + as_it_is(usage_parts(Command::attend).synopsis);
  for (const Command command : kCommands) {
    const Usage parts = usage_parts(command);
    if (command == Command::attend) {
      text += ".SH DESCRIPTION\n" + parts.about + ".SH OPTIONS\n";
    } else {
      text += ".SH SDPA ";
      for (const char c : name(command)) text += static_cast<char>(c - 'a' + 'A');
      text += "\n" + as_it_is(parts.synopsis) + ".PP\n" + parts.about;
    }
    text += options_text(command);
    examples += parts.examples;
  }
  text.append(kTail);
  return text + ".SH EXAMPLES\n" + as_it_is(examples);
}

}  // namespace sdpa
