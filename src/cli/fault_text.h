#pragma once

#include "report/faults.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sdpa {

/// "looks like" and what follows, a line for each fault that explains an output, or what is nearest.
std::string fault_text(const FaultFinding& finding);

/// The faults as members "fault", "parameter", "where" and "values", with "words" and "rows".
nlohmann::ordered_json fault_json(const FaultFinding& finding);

}  // namespace sdpa
