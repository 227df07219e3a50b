#pragma once

#include "report/examiner.h"

#include <vector>

namespace sdpa {

/// Suspects whose parameter follows from the output: the likelier ones first. Each is still to be
/// examined.
std::vector<Suspect> suspected_scales(const Examiner& examiner);
std::vector<Suspect> suspected_factors(const Examiner& examiner);
std::vector<Suspect> suspected_padding(const Examiner& examiner);
std::vector<Suspect> suspected_missing_keys(const Examiner& examiner);
std::vector<Suspect> suspected_rows(const Examiner& examiner);

/// The factor by which the right rows come nearest to the wrong ones.
double nearest_factor(const Examiner& examiner);

}  // namespace sdpa
