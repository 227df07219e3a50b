#pragma once

#include "report/judged_output.h"
#include "report/suspect.h"

#include <string>
#include <vector>

namespace sdpa {

/// The faults that can be listed for an output, with each of their parameters, by what they are about.
/// Where there is a choice between parameters of one fault, the likelier ones come first.
std::vector<Suspect> suspects_of_scores(const JudgedOutput& judged);
std::vector<Suspect> suspects_of_masks(const JudgedOutput& judged);
std::vector<Suspect> suspects_of_operands(const JudgedOutput& judged);
std::vector<Suspect> suspects_of_sums(const JudgedOutput& judged);

/// A scale, said as "scale 0.125 (1/d_k)".
Suspect scale_suspect(double scale, const std::string& about);

/// Keys that are not seen, and a number of keys that are too many.
Suspect missing_suspect(KeyRun run);
Suspect padding_suspect(Index keys);

/// Rows of the output that stand n rows too far down; those that leave the end come in at the
/// beginning, or the first ones are right.
Suspect rows_suspect(const JudgedOutput& judged, Index n, bool round);

/// "0.25503486"
std::string number_text(double value);

}  // namespace sdpa
