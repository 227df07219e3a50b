#include "attention/masked_attention.h"

#include "attention/heads.h"

namespace sdpa {

Attention masked_attention(const Array& q, const Array& k, const Array& v, const MaskOptions& mask,
                           const Settings& settings) {
  Heads heads(q, k, v, settings, {}, {}, mask);
  return heads.rows(0, heads.row_count());
}

}  // namespace sdpa
