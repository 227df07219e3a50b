#include "attention/attention.h"

#include "attention/exact.h"
#include "attention/head.h"
#include "attention/nonfinite.h"
#include "attention/norms.h"
#include "attention/plain.h"
#include "attention/problem.h"
#include "base/parallel.h"
#include "kernel/kernel.h"

#include <algorithm>
#include <atomic>

namespace sdpa {

namespace {

bool all_finite(const Array& array, int threads) {
  constexpr Index kChunk = Index{1} << 18;
  const Index count = array.shape().element_count();
  std::atomic<bool> finite{true};
  parallel_for(threads, (count + kChunk - 1) / kChunk, [&](Index c) {
    if (!all_finite(array, c * kChunk, std::min(kChunk, count - c * kChunk))) finite = false;
  });
  return finite;
}

}  // namespace

std::string_view instruction_set_name() {
  return kernel::instruction_set().name;
}

KeyValueAttention::KeyValueAttention(const Array& k, const Array& v, const Settings& settings)
    : k_(k),
      v_(v),
      settings_(settings),
      finite_(all_finite(k, settings.threads) && all_finite(v, settings.threads)) {
  if (finite_ && settings.precision == Precision::exact)
    norms_ = std::make_shared<const Norms>(measure_norms(k, v, settings.threads));
}

Attention KeyValueAttention::operator()(const Array& q) const {
  const Settings& s = settings_;
  const Head head = make_head(q, k_, v_);
  const Dtype dtype = s.dtype.value_or(result_type(result_type(q.dtype(), k_.dtype()), v_.dtype()));
  auto of_finite = [&](const Head& finite, const Norms* norms) {
    if (s.precision != Precision::exact)
      return plain_attention(finite, s.precision, dtype, s.threads, s.weights);
    if (norms != nullptr) return exact_attention(finite, *norms, dtype, s.threads, s.weights);
    return exact_attention(finite, measure_norms(finite.k, finite.v, s.threads), dtype, s.threads,
                           s.weights);
  };
  if (finite_ && all_finite(q, s.threads)) return of_finite(head, norms_.get());
  return nonfinite_attention(head, dtype, s.weights,
                             [&](const Head& finite) { return of_finite(finite, nullptr); });
}

Attention attention(const Array& q, const Array& k, const Array& v, const Settings& settings) {
  check_shapes(q, k, v);
  return KeyValueAttention(k, v, settings)(q);
}

}  // namespace sdpa
