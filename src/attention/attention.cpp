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
#include <cmath>

namespace sdpa {

namespace {

bool all_finite(const Array& array, int threads) {
  constexpr Index kChunk = Index{1} << 22;  // less is not worth a thread
  const Index count = array.shape().element_count();
  std::atomic<bool> finite{true};
  parallel_for(threads, (count + kChunk - 1) / kChunk, [&](Index c) {
    if (!all_finite(array, c * kChunk, std::min(kChunk, count - c * kChunk))) finite = false;
  });
  return finite;
}

bool norms_are_finite(const Norms& norms) {
  return std::isfinite(norms.k_all) &&
         std::ranges::all_of(norms.v, [](double norm) { return std::isfinite(norm); });
}

}  // namespace

std::string_view instruction_set_name() {
  return kernel::instruction_set().name;
}

KeyValueAttention::KeyValueAttention(const Array& k, const Array& v, const Settings& settings)
    : k_(k), v_(v), settings_(settings) {
  if (settings.precision != Precision::exact) return;
  auto norms = std::make_shared<const Norms>(measure_norms(k, v, settings.threads));
  if (norms_are_finite(*norms) ||
      (all_finite(k, settings.threads) && all_finite(v, settings.threads)))
    norms_ = std::move(norms);
}

Attention KeyValueAttention::operator()(const Array& q) const {
  const Settings& s = settings_;
  const Head head = make_head(q, k_, v_);
  const Dtype dtype = s.dtype.value_or(result_type(result_type(q.dtype(), k_.dtype()), v_.dtype()));
  auto plain = [&](const Head& any) {
    return plain_attention(any, s.precision, dtype, s.threads, s.weights);
  };
  auto exact = [&](const Head& finite, const Norms& norms) {
    return exact_attention(finite, norms, dtype, s.threads, s.weights);
  };

  if (s.precision == Precision::exact) {
    if (norms_ != nullptr && all_finite(q, s.threads)) return exact(head, *norms_);
    return nonfinite_attention(head, dtype, s.weights, [&](const Head& finite) {
      return exact(finite, measure_norms(finite.k, finite.v, s.threads));
    });
  }
  // Plain arithmetic carries a NaN or an infinity to its results, if not always to the right ones.
  Attention result = plain(head);
  const bool finite = all_finite(result.output, s.threads) &&
                      (!result.weights || all_finite(*result.weights, s.threads));
  if (finite ||
      (all_finite(q, s.threads) && all_finite(k_, s.threads) && all_finite(v_, s.threads)))
    return result;
  return nonfinite_attention(head, dtype, s.weights, plain);
}

Attention attention(const Array& q, const Array& k, const Array& v, const Settings& settings) {
  check_shapes(q, k, v);
  return KeyValueAttention(k, v, settings)(q);
}

}  // namespace sdpa
