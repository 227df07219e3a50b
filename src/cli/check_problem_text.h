#pragma once

#include "cli/problem_inputs.h"
#include "report/finding.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sdpa {

/// What a check has asked: shapes by name, heads and their layout, types, scale, mask and alignment,
/// as lines of its report. An output within the bound must not hide that the question was wrong.
std::string problem_text(const ProblemInputs& inputs, const Problem& problem,
                         const Finding& finding);

/// The same as one object.
nlohmann::ordered_json problem_json(const ProblemInputs& inputs, const Problem& problem,
                                    const Finding& finding);

}  // namespace sdpa
