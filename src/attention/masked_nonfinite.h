#pragma once

#include "attention/nonfinite.h"

namespace sdpa {

/// nonfinite_attention of a head whose queries see only some of its keys: what is not finite reaches
/// the rows that see it. `of_finite` computes the rows that see a key, and rows that see none are left
/// alone. A row that sees a bias of NaN or +inf is NaN.
void masked_nonfinite_attention(const Head& head, const FiniteAttention& of_finite,
                                Attention& results);

}  // namespace sdpa
