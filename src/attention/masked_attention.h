#pragma once

#include "attention/attention.h"
#include "attention/mask.h"

namespace sdpa {

/// Attention of queries that see only some of the keys, of one head:
///
///    row t  =  attention(q_t, k[V(t)], v[V(t)])
///
/// where V(t) are the keys that the mask lets query t see: a hidden key is as if it were not there,
/// whatever its numbers, and rows of k and v that no query sees are not read. A bias is added to the
/// scaled scores. Rows that see no key hold what mask.empty_rows says. Weights of hidden keys are 0.
///
/// With Precision::exact each finite result is the real number, rounded once. With plain precisions
/// sums run in the order that the positions of the keys fix, hidden ones included.
///
/// Throws what attention() and Mask throw, and Error if a row sees no key and that is an error.
Attention masked_attention(const Array& q, const Array& k, const Array& v, const MaskOptions& mask,
                           const Settings& settings = {});

}  // namespace sdpa
