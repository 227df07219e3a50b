#include "attention/attention.h"
#include "catch.h"
#include "oracle/matrix.h"
#include "oracle/naive.h"
#include "oracle/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

Array random_matrix(Random& random, Index rows, Index columns) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& value : values) value = random.normal();
  return matrix(rows, columns, values, Dtype::float32);
}

/// Compares --precision float64 or float32 with the textbook in the same arithmetic, entry by
/// entry.
///
/// With u the unit roundoff, a score is off by at most (d_k + 2) u A, A the largest of
/// sum_i |q_i k_i| / sqrt(d_k) (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed.,
/// section 3.1, to first order), the difference to the maximum by twice that and another u 2 A. An
/// exponential multiplies by that error and 4 u of its own; numerator and denominator have T_k u
/// from their sums; the division and the product bring 2 u. Two evaluations differ by at most twice
/// this, and rounding to the output type adds u.
template <class Real>
void compare_with_textbook(Precision precision, Dtype dtype, Index T_k, Index d_k) {
  Random random(static_cast<std::uint64_t>(T_k * 1000 + d_k));
  const Index T_q = 5, d_v = 6;
  const Array q = random_matrix(random, T_q, d_k), k = random_matrix(random, T_k, d_k),
              v = random_matrix(random, T_k, d_v);
  const Attention got = attention(q, k, v, {precision, dtype, 1, true});

  std::vector<Real> q_values(static_cast<std::size_t>(T_q * d_k)),
      k_values(static_cast<std::size_t>(T_k * d_k)), v_values(static_cast<std::size_t>(T_k * d_v)),
      w(static_cast<std::size_t>(T_k)), o_t(static_cast<std::size_t>(d_v));
  read_elements(q, 0, T_q * d_k, q_values.data());
  read_elements(k, 0, T_k * d_k, k_values.data());
  read_elements(v, 0, T_k * d_v, v_values.data());
  const double u = std::numeric_limits<Real>::epsilon() / 2;
  for (Index t = 0; t < T_q; ++t) {
    const Real* q_t = q_values.data() + t * d_k;
    naive::attention(q_t, k_values.data(), v_values.data(), T_k, d_k, d_v, w.data(), o_t.data());
    double largest = 0;
    for (Index j = 0; j < T_k; ++j) {
      double sum = 0;
      for (Index i = 0; i < d_k; ++i) sum += std::fabs(q_t[i] * k_values.data()[j * d_k + i]);
      largest = std::max(largest, sum / std::sqrt(static_cast<double>(d_k)));
    }
    const double relative =
        2 * (2 * (d_k + 3) * largest + 4 + 2 * static_cast<double>(T_k) + 3) * u;
    for (Index j = 0; j < T_k; ++j) {
      const double expected = w[static_cast<std::size_t>(j)];
      CHECK(std::fabs(got.weights->at(t * T_k + j) - expected) <= relative * expected);
    }
    for (Index d = 0; d < d_v; ++d) {
      double absolute = 0;
      for (Index j = 0; j < T_k; ++j)
        absolute += w[static_cast<std::size_t>(j)] * std::fabs(v_values.data()[j * d_v + d]);
      const double expected = o_t[static_cast<std::size_t>(d)];
      CHECK(std::fabs(got.output.at(t * d_v + d) - expected) <= relative * absolute);
    }
  }
}

}  // namespace

TEST_CASE("attention: precision float64 and float32 agree with the textbook in that arithmetic") {
  for (Index T_k : {1, 2, 7, 8, 9, 31, 33, 300})
    for (Index d_k : {1, 2, 8, 9, 64}) {
      INFO("T_k " << T_k << ", d_k " << d_k);
      compare_with_textbook<double>(Precision::float64, Dtype::float64, T_k, d_k);
      compare_with_textbook<float>(Precision::float32, Dtype::float32, T_k, d_k);
    }
}
