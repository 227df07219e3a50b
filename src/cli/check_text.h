#pragma once

#include "report/finding.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sdpa {

/// The output that is judged.
struct CheckedOutput {
  std::string place;  ///< how messages call it
  Array actual;       ///< (..., heads, T_q, d_v), in the type of its numbers
  Dtype file_type;
};

/// The report of `check`, a line for each thing there is to say.
///
/// problem   lines that say what was asked
std::string check_text(const CheckedOutput& output, const Finding& finding,
                       const std::string& problem);

/// The same as one object.
nlohmann::ordered_json check_json(const CheckedOutput& output, const Finding& finding,
                                  const nlohmann::ordered_json& problem);

}  // namespace sdpa
