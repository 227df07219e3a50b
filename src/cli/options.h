#pragma once

#include "attention/attention.h"
#include "attention/score_rows.h"
#include "cli/arithmetic_option.h"
#include "cli/layout_arguments.h"
#include "cli/mask_arguments.h"
#include "cli/progress.h"
#include "cli/scoring_arguments.h"
#include "io/output_form.h"
#include "report/difference.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sdpa {

/// The inputs, and whatever else decides what the right result is: one meaning in every command.
struct ProblemOptions {
  /// The operands as arguments of read_array; all three unless there is a case file. Those of k, and
  /// of v, are joined along T.
  std::string q;
  std::vector<std::string> k, v;

  /// One file with all three operands, as argument of read_case.
  std::optional<std::string> case_file;

  LayoutArguments layout;
  MaskArguments mask;
  ScoringArguments scoring;
};

/// The main job: attention on files.
struct AttendOptions {
  ProblemOptions problem;
  std::string output = "-";            ///< path, or "-" for standard output
  std::optional<std::string> weights;  ///< path of the weights, if they are wanted
  std::optional<std::string> lse;      ///< path of the log-sum-exps, likewise
  std::optional<std::string> scores;   ///< path of the scores, likewise
  ScoreStage scores_after = ScoreStage::mask;
  std::optional<OutputForm> format;  ///< of all results; absent: as their names say
  Settings settings;                 ///< of the computation
  ShowProgress progress = ShowProgress::automatic;
  bool verbose = false;  ///< say on standard error what was applied
};

/// Two arrays, compared. Both are arguments of read_array.
struct CompareOptions {
  std::string actual, expected;
  Tolerance tolerance;
  bool json = false;  ///< the report as one JSON object
};

/// Many small cases, one a line of JSON, each answered on a line.
struct LinesOptions {
  ProblemOptions problem;    ///< with the file of the lines as its case file
  std::string output = "-";  ///< path, or "-" for standard output
  Settings settings;         ///< of each computation
};

/// An output, judged against what an honest kernel may do.
struct CheckOptions {
  std::string actual;  ///< as argument of read_array; empty: the output that the case file holds
  ProblemOptions problem;
  DeclaredArithmetic arithmetic;         ///< of the kernel
  bool strict = false;                   ///< what the data do not show is no judgement
  std::optional<std::string> error_map;  ///< path of the errors in units of the bound
  int threads = 1;
  ShowProgress progress = ShowProgress::automatic;
  bool json = false;  ///< the report as one JSON object
};

/// The allowed connections of a mask, without any inputs.
struct MaskCommandOptions {
  Shape shape;  ///< (..., T_q, T_k)
  MaskArguments mask;
  std::optional<std::string> output;  ///< path of the mask as an array of bool
  bool json = false;                  ///< one JSON object instead of a picture
};

/// What is made of the table of options, for an installation.
enum class Generated { man, bash, zsh, fish };

/// Text that was asked for instead of work: --help, --version and --generate.
struct ShowOptions {
  std::string text;
};

/// What a command line asks for: the options of one command. Each has its function run().
using Request = std::variant<AttendOptions, LinesOptions, CompareOptions, CheckOptions,
                             MaskCommandOptions, ShowOptions>;

/// Reads the words behind the program's name.
///
/// Throws Error, beginning with the option or word at fault, if there is an option that does
/// not exist, one that is given twice or without its value, a value that is none of those allowed,
/// or a combination of inputs and outputs that cannot be meant.
Request parse(std::vector<std::string> words);

}  // namespace sdpa
