#pragma once

#include "array/array.h"
#include "report/judgement.h"
#include "report/kernel_bound.h"
#include "report/kernels.h"
#include "report/right_values.h"
#include "report/ulp.h"

#include <random>
#include <vector>

/// Arrays and problems for the tests of report/.
namespace sdpa {

inline Array array_of(const std::vector<double>& values, std::vector<Index> extents,
                      Dtype dtype = Dtype::float32) {
  Array array(Shape(std::move(extents)), dtype);
  store_rounded(values.data(), array.shape().element_count(), dtype, array.mutable_data());
  return array;
}

using Generator = std::mt19937_64;

/// Numbers N(0, size^2), rounded to a type.
inline std::vector<double> normal(Generator& generator, int count, double size, Dtype dtype) {
  std::normal_distribution<double> distribution(0, size);
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(rounded(distribution(generator), dtype));
  return values;
}

/// T_q queries, 40 ... 130 keys, d_k = d_v = 16 ... 64, all N(0, 1).
inline kernels::OneHead random_problem(Generator& generator, int T_q, Dtype dtype) {
  const int T_k = std::uniform_int_distribution(40, 130)(generator);
  const int d = std::uniform_int_distribution(16, 64)(generator);
  return {T_q,
          T_k,
          d,
          d,
          normal(generator, T_q * d, 1, dtype),
          normal(generator, T_k * d, 1, dtype),
          normal(generator, T_k * d, 1, dtype)};
}

/// The right values, in the arithmetic of long double (64 significant bits).
inline std::vector<double> right_values(const kernels::OneHead& p) {
  std::vector<double> o;
  std::vector<long double> w(static_cast<std::size_t>(p.T_k));
  for (int t = 0; t < p.T_q; ++t) {
    for (int j = 0; j < p.T_k; ++j) {
      w[j] = -HUGE_VALL;
      if (p.bias_of(t, j) == -HUGE_VAL) continue;
      long double dot = 0;
      for (int i = 0; i < p.d_k; ++i)
        dot += static_cast<long double>(p.q[t * p.d_k + i]) * p.k[j * p.d_k + i];
      w[j] = dot / std::sqrt(static_cast<long double>(p.d_k)) + p.bias_of(t, j);
    }
    const long double largest = *std::max_element(w.begin(), w.end());
    long double total = 0;
    for (long double& w_j : w) total += w_j = std::exp(w_j - largest);
    for (int d = 0; d < p.d_v; ++d) {
      long double sum = 0;
      for (int j = 0; j < p.T_k; ++j)
        if (p.bias_of(t, j) != -HUGE_VAL) sum += w[j] * p.v[j * p.d_v + d];
      o.push_back(static_cast<double>(sum / total));
    }
  }
  return o;
}

inline Head head_of(const kernels::OneHead& p, Dtype inputs) {
  Head head =
      make_head(array_of(p.q, {p.T_q, p.d_k}, inputs), array_of(p.k, {p.T_k, p.d_k}, inputs),
                array_of(p.v, {p.T_k, p.d_v}, inputs));
  if (!p.bias.empty()) head.visible.bias = Plane{array_of(p.bias, {p.T_q, p.T_k}), 0, p.T_k, 1};
  return head;
}

inline KernelBound bound_of(const kernels::OneHead& p, Dtype inputs, const Arithmetic& arithmetic,
                            int threads = 1) {
  return KernelBound(head_of(p, inputs), EmptyRows::zero, arithmetic, threads);
}

/// What a bound allows for each value of rows first ... of the output, o.
inline std::vector<double> allowed_of(const KernelBound& bound, const std::vector<double>& o,
                                      Index first = 0) {
  const CloseLook& look = bound.close_look();
  const Index count = std::ssize(o) / look.head.n.d_v;
  const std::vector<HeadRows> rows = bound.rows_to_sum(first, count, 0);
  if (rows.empty()) return bound.allowed(first, o, nullptr);
  const Array sums = plain_sums(rows, count, bound.sum_columns(), look.precision, 1);
  return bound.allowed(first, o, &sums);
}

inline std::vector<double> allowed_of(const kernels::OneHead& p, Dtype inputs,
                                      const Arithmetic& arithmetic) {
  return allowed_of(bound_of(p, inputs, arithmetic), right_values(p));
}

/// Judges outputs of one problem against the bound of an honest kernel of some arithmetic.
class Judging {
 public:
  Judging(const kernels::OneHead& p, Dtype inputs, const Arithmetic& arithmetic)
      : shape_({p.T_q, p.d_v}), output_(arithmetic.output) {
    right_.unrounded = right_values(p);
    for (double value : right_.unrounded) right_.rounded.push_back(rounded(value, output_));
    if (type_of_exact_results(output_) == output_) right_.unrounded = right_.rounded;
    allowed_ = allowed_of(bound_of(p, inputs, arithmetic), right_.unrounded);
  }

  /// The values of a kernel, which are stored in the output type first.
  Judgement operator()(const std::vector<double>& actual) const {
    Judge judge(shape_);
    judge.add_rows(array_of(actual, {shape_[0], shape_[1]}, output_), right_, allowed_);
    return judge.judgement();
  }

 private:
  Shape shape_;
  Dtype output_;
  RightValues right_;
  std::vector<double> allowed_;
};

inline Judgement judge(const kernels::OneHead& p, const std::vector<double>& actual, Dtype inputs,
                       const Arithmetic& arithmetic) {
  return Judging(p, inputs, arithmetic)(actual);
}

}  // namespace sdpa
