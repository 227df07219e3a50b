#pragma once

#include "attention/scoring.h"
#include "oracle/mpfr.h"

#include <cstdint>
#include <string>

namespace sdpa::oracle {

/// Random scales, caps and sinks of one head, alone and together.
ScoringOptions random_scoring(std::uint64_t seed);

/// The same for the referee.
Scoring scoring_of(const ScoringOptions& options);

}  // namespace sdpa::oracle
