#pragma once

#include "attention/heads.h"
#include "cli/options.h"
#include "io/case.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// One file of operands.
struct InputFile {
  std::string word;   ///< of the command line
  std::string place;  ///< how messages call it
  Array array;
};

/// All that decides the right result, read.
struct ProblemInputs {
  Array q, k, v;
  Layout layout;
  OperandNames names;
  MaskOptions mask;
  ScoringOptions scoring;
  std::vector<InputFile> files;           ///< what q, k and v were read from, each once
  std::optional<NamedArray> output = {};  ///< of the case file, if it was asked for

  /// Attention of these inputs. Throws what Heads throws.
  Heads heads(const Settings& settings) const {
    return {q, k, v, settings, layout, names, mask, scoring};
  }
};

/// Reads the files that the options name: those of single operands, or a case file with its further
/// members, of which one must be an output if it is asked for. Throws Error, which begins with the file or
/// option at fault.
ProblemInputs read_problem(const ProblemOptions& options, bool with_output = false);

/// Names of the members of a case file that are options, as CaseWishes has them.
std::vector<std::string_view> case_member_names();

/// The problem of a case that has been read with these members; `place` is how messages call it.
ProblemInputs problem_of_case(const Case& found, const ProblemOptions& options,
                              const std::string& place);

/// How the operands were taken apart, as "layout htd: batch 3, 8 query heads over 2 key heads, T_q 5,
/// T_k 7", with a remark where another layout would fit as well and not be less usual. Empty if there
/// is but one head.
std::string layout_text(const ProblemInputs& inputs, const Problem& problem);

/// One line on standard error for each file of operands that holds NaN, with their share. Bits that
/// are read as another type than theirs are often NaN, so where the user has said the type, it asks
/// for that.
void warn_of_nan_inputs(const ProblemInputs& inputs);

}  // namespace sdpa
