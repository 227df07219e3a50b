#include "attention/attention.h"

#include "attention/exact.h"
#include "attention/head.h"
#include "attention/nonfinite.h"
#include "attention/plain.h"
#include "kernel/kernel.h"

namespace sdpa {

std::string_view instruction_set_name() {
  return kernel::instruction_set().name;
}

Attention attention(const Array& q, const Array& k, const Array& v, const Settings& settings) {
  const Head head = make_head(q, k, v);
  const Dtype dtype =
      settings.dtype.value_or(result_type(result_type(q.dtype(), k.dtype()), v.dtype()));
  auto of_finite = [&](const Head& finite) {
    if (settings.precision == Precision::exact)
      return exact_attention(finite, dtype, settings.threads, settings.weights);
    return plain_attention(finite, settings.precision, dtype, settings.threads, settings.weights);
  };
  if (all_finite(head)) return of_finite(head);
  return nonfinite_attention(head, dtype, settings.weights, of_finite);
}

}  // namespace sdpa
