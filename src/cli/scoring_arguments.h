#pragma once

#include "attention/scoring.h"
#include "io/case.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The options that say what becomes of scores, before their files are read.
struct ScoringArguments {
  std::optional<ScoreScale> scale;
  std::optional<double> softcap;
  std::optional<std::string> sinks;  ///< a number, or argument of read_array
};

/// Values of --scale and --softcap from their words: a decimal number, which is the nearest float64,
/// or with `f` behind it the nearest float32; as a scale also 1/sqrt(N), the real number. Throw Error,
/// beginning with `name`, if the word is none, if it is not finite, or, of a cap, not above 0.
ScoreScale scale_from(std::string_view name, std::string_view word);
double softcap_from(std::string_view name, std::string_view word);

/// The options, with their file read, and with the members of a case file that are spelled as they
/// are.
///
/// members   of the case file but for q, k and v
/// place     of the case file, for messages
///
/// Throws Error if an array cannot be read, a member has not the form of its option, or an option is
/// given in the case file too.
ScoringOptions read_scoring(const ScoringArguments& arguments,
                            const std::vector<CaseMember>& members = {},
                            std::string_view place = {});

/// Names of the members of a case file that read_scoring takes.
std::vector<std::string_view> scoring_member_names();

}  // namespace sdpa
