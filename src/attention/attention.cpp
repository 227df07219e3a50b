#include "attention/attention.h"

#include "attention/heads.h"
#include "kernel/kernel.h"

namespace sdpa {

std::string_view instruction_set_name() {
  return kernel::instruction_set().name;
}

Attention attention(const Array& q, const Array& k, const Array& v, const Settings& settings) {
  Heads heads(q, k, v, settings);
  return heads.rows(0, heads.row_count());
}

}  // namespace sdpa
