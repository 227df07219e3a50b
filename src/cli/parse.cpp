#include "attention/attention.h"
#include "base/error.h"
#include "base/parallel.h"
#include "cli/completions.h"
#include "cli/docs.h"
#include "cli/man_page.h"
#include "cli/option_table.h"
#include "cli/words.h"
#include "io/array_file.h"
#include "io/output_place.h"
#include "io/quote.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sdpa {

namespace {

std::string version_text() {
  std::string text = "sdpa " SDPA_VERSION " (";
  text += instruction_set_name();
  text += ")\n";
  return text;
}

std::string generated_text(Generated what) {
  switch (what) {
    case Generated::man:
      return man_page();
    case Generated::bash:
      return bash_completions();
    case Generated::zsh:
      return zsh_completions();
    default:
      return fish_completions();
  }
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

/// Which of the option's choices the word is, where a type has several names; -1 if it is none and
/// need not be.
int choice_of(const OptionSpec& option, const Given& given) {
  const std::optional<Dtype> dtype = parse_dtype(given.word);
  const std::string_view word = dtype ? name(*dtype) : std::string_view(given.word);
  const auto choice = std::ranges::find(option.choices, word);
  if (choice != option.choices.end()) return static_cast<int>(choice - option.choices.begin());
  if (option.kind != ValueKind::choice) return -1;
  throw Error(given.name, in_quotes(given.word) + " is not " + listed(option.choices));
}

/// There must be a case file, where the command takes one, or all three operands, not both.
void require_inputs(const ProblemOptions& problem, bool takes_case) {
  const std::pair<const char*, bool> operands[] = {{"--query", !problem.q.empty()},
                                                   {"--key", !problem.k.empty()},
                                                   {"--value", !problem.v.empty()}};
  const auto is_given = [](const auto& operand) { return operand.second; };
  const auto given = std::ranges::find_if(operands, is_given);
  const auto missing = std::ranges::find_if_not(operands, is_given);
  if (problem.case_file) {
    if (given == std::end(operands)) return;
    throw Error(given->first,
                place_of(*problem.case_file) + " is a case file, which holds all three inputs");
  }
  if (given == std::end(operands) && takes_case)
    throw Error("no input: give -q, -k and -v, or a case file; see sdpa --help");
  if (missing != std::end(operands))
    throw Error(missing->first, "missing; -q, -k and -v belong together");
}

void require_packed_sequences_whole(const ProblemOptions& problem) {
  if (!problem.layout.cu_seqlens_q) return;
  for (const auto& [name, files] : {std::pair("--key", &problem.k), {"--value", &problem.v}})
    if (files->size() > 1)
      throw Error(name, "given " + std::to_string(files->size()) +
                            " times, but packed sequences lie in one file");
}

void require(const char* name, const std::string& argument, const char* needed) {
  if (argument.empty()) throw Error(name, std::string("missing; ") + needed);
}

void require_tolerances_that_agree(const Tolerance& tolerance) {
  const std::pair<const char*, bool> given[] = {{"--max-ulp", tolerance.max_ulp.has_value()},
                                                {"--atol", tolerance.atol.has_value()},
                                                {"--rtol", tolerance.rtol.has_value()}};
  for (const auto& [name, is_given] : given)
    if (tolerance.bitwise && is_given) throw Error(name, "--bitwise allows no difference");
}

/// Standard input can be read once, whatever part of it an argument names.
void require_one_standard_input(const std::vector<Found>& all) {
  const Given* reader = nullptr;
  for (const Found& found : all) {
    if (found.option->kind != ValueKind::input) continue;
    for (const Given& given : found.given) {
      if (!is_standard_input(given.word)) continue;
      if (reader != nullptr)
        throw Error(given.name, "standard input is already read by " + reader->name);
      reader = &given;
    }
  }
}

/// No two results can go to one place, but for files that hold several.
void require_different_outputs(const std::vector<Found>& all, std::optional<OutputForm> format) {
  const auto is_shared = [&](const std::string& path) {
    const std::optional<OutputForm> form = format ? format : form_of_name(path);
    return form && holds_several(*form);
  };
  std::vector<Given> outputs;
  for (const Found& found : all)
    if (found.option->kind == ValueKind::output)
      outputs.insert(outputs.end(), found.given.begin(), found.given.end());
  if (outputs.empty() || outputs.front().name != "--output")
    outputs.insert(outputs.begin(), {"--output", "-"});
  for (auto later = outputs.begin(); later != outputs.end(); ++later)
    for (auto earlier = outputs.begin(); earlier != later; ++earlier)
      if (is_same_output(later->word, earlier->word) &&
          !(is_shared(later->word) && is_shared(earlier->word)))
        throw Error(later->name, later->word + " is also where " + earlier->name + " goes");
}

/// Each line has one result and no more options than a problem has.
Request lines_request(const AllOptions& o) {
  if (!o.problem.case_file)
    throw Error("--lines", "is of a file of cases, or of -, not of -q, -k and -v");
  for (const auto& [name, path] :
       {std::pair("--weights", &o.weights), {"--lse", &o.lse}, {"--scores", &o.scores}})
    if (*path) throw Error(name, "a line of --lines has one result");
  if (o.format) throw Error("--format", "the lines of --lines are JSON");
  return LinesOptions{o.problem, o.output.value_or("-"), o.settings};
}

/// `command` with its part of the options. Throws Error if they do not go together.
Request request(Command command, const AllOptions& o) {
  switch (command) {
    case Command::compare:
      require("ACTUAL", o.actual, "two files are compared, ACTUAL and EXPECTED");
      require("EXPECTED", o.expected, "two files are compared, ACTUAL and EXPECTED");
      require_tolerances_that_agree(o.tolerance);
      return CompareOptions{o.actual, o.expected, o.tolerance, o.json};
    case Command::check:
      if (!o.problem.case_file) require("ACTUAL", o.actual, "the output that is to be checked");
      require_inputs(o.problem, false);
      require_one_layout(o.problem.layout);
      require_packed_sequences_whole(o.problem);
      return CheckOptions{o.actual,    o.problem,          o.arithmetic, o.strict,
                          o.error_map, o.settings.threads, o.progress,   o.json};
    case Command::mask:
      if (!o.shape) throw Error("--shape", "missing; T_q and T_k of the mask, as 8x12");
      return MaskCommandOptions{*o.shape, o.problem.mask, o.output, o.json};
    default:
      if (o.generate) return ShowOptions{generated_text(*o.generate)};
      require_inputs(o.problem, true);
      require_one_layout(o.problem.layout);
      require_packed_sequences_whole(o.problem);
      if (o.lines) return lines_request(o);
      if (o.scores_after && !o.scores)
        throw Error("--scores-after", "no scores are written without --scores");
      return AttendOptions{o.problem,  o.output.value_or("-"),
                           o.weights,  o.lse,
                           o.scores,   o.scores_after.value_or(ScoreStage::mask),
                           o.format,   o.settings,
                           o.progress, o.verbose};
  }
}

/// A file alone that is to be checked is a case with its own output.
void take_case_alone(AllOptions& o) {
  const ProblemOptions& p = o.problem;
  if (o.actual.empty() || p.case_file || !p.q.empty() || !p.k.empty() || !p.v.empty()) return;
  o.problem.case_file = std::exchange(o.actual, "");
}

/// The command that the first word names; takes that word away.
Command take_command(std::vector<std::string>& words) {
  for (const Command command : kCommands)
    if (!words.empty() && !words.front().empty() && words.front() == name(command)) {
      words.erase(words.begin());
      return command;
    }
  return Command::attend;
}

}  // namespace

Request parse(std::vector<std::string> words) {
  const Command command = take_command(words);
  SortedWords sorted = sort_words(command, std::move(words));
  if (sorted.help) return ShowOptions{help_text(command)};
  if (sorted.version) return ShowOptions{version_text()};

  AllOptions options;
  options.settings.threads = available_processors();
  for (Found& found : sorted.options)
    for (Given& given : found.given) {
      given.choice = choice_of(*found.option, given);
      found.option->store(given, options);
    }
  options.settings.weights = options.weights.has_value();
  if (command == Command::check) take_case_alone(options);
  Request result = request(command, options);
  require_one_standard_input(sorted.options);
  require_different_outputs(sorted.options, options.format);
  return result;
}

}  // namespace sdpa
