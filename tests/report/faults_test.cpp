// Faults that kernels are known to have: each must be found.

#include "catch.h"
#include "report/arrays.h"

#include <cmath>
#include <functional>
#include <span>

using namespace sdpa;
using kernels::OneHead;

namespace {

using Values = std::vector<double>;

double usual_scale(const OneHead& p) {
  return 1 / std::sqrt(static_cast<double>(p.d_k));
}

/// exp(scale * q k^T), (T_q, T_k).
Values exponentials(const OneHead& p, double scale) {
  Values w;
  for (int t = 0; t < p.T_q; ++t)
    for (int j = 0; j < p.T_k; ++j) {
      double dot = 0;
      for (int i = 0; i < p.d_k; ++i) dot += p.q[t * p.d_k + i] * p.k[j * p.d_k + i];
      w.push_back(std::exp(scale * dot));
    }
  return w;
}

/// Divides each row of w (T_q, T_k) by its sum and `more`.
Values normalised(const OneHead& p, Values w, double more = 0) {
  for (int t = 0; t < p.T_q; ++t) {
    double sum = more;
    for (int j = 0; j < p.T_k; ++j) sum += w[t * p.T_k + j];
    for (int j = 0; j < p.T_k; ++j) w[t * p.T_k + j] /= sum;
  }
  return w;
}

Values weighted_sum(const OneHead& p, const Values& w) {
  Values o(static_cast<std::size_t>(p.T_q * p.d_v), 0);
  for (int t = 0; t < p.T_q; ++t)
    for (int j = 0; j < p.T_k; ++j)
      for (int d = 0; d < p.d_v; ++d) o[t * p.d_v + d] += w[t * p.T_k + j] * p.v[j * p.d_v + d];
  return o;
}

Values right(const OneHead& p) {
  return weighted_sum(p, normalised(p, exponentials(p, usual_scale(p))));
}

constexpr Dtype kFloat32AndBfloat16[] = {Dtype::float32, Dtype::bfloat16};

/// Demands that a faulty kernel of each of these types, with float32 accumulation, is outside the
/// bound on normal values with T_q = 64, where the right values are inside.
void check_found(const std::function<Values(const OneHead&)>& faulty,
                 std::span<const Dtype> dtypes = kFloat32AndBfloat16) {
  for (Dtype dtype : dtypes) {
    const Arithmetic arithmetic{Dtype::float32, dtype, dtype};
    Generator generator(11);
    for (int problem = 0; problem < 3; ++problem) {
      const OneHead p = random_problem(generator, 64, dtype);
      INFO(name(dtype) << ", T_k " << p.T_k << ", d " << p.d_k);
      CHECK(judge(p, right(p), dtype, arithmetic).outside == 0);
      const Judgement judgement = judge(p, faulty(p), dtype, arithmetic);
      CHECK(judgement.outside > 0);
      CHECK(judgement.worst_multiple > 1);
    }
  }
}

/// The pattern of what is found in a float32 output of shape (64, 32) with a fault put into it.
std::string pattern_of(const std::function<void(Values&)>& damage) {
  Generator generator(12);
  const OneHead p{64,
                  100,
                  32,
                  32,
                  normal(generator, 64 * 32, 1, Dtype::float32),
                  normal(generator, 100 * 32, 1, Dtype::float32),
                  normal(generator, 100 * 32, 1, Dtype::float32)};
  Values o = right(p);
  damage(o);
  return judge(p, o, Dtype::float32, {Dtype::float32, Dtype::float32, Dtype::float32})
      .pattern.text();
}

}  // namespace

TEST_CASE("faults: the scale is missing") {
  check_found([](const OneHead& p) { return weighted_sum(p, normalised(p, exponentials(p, 1))); });
}

TEST_CASE("faults: the scale is 1/d_k") {
  check_found([](const OneHead& p) {
    return weighted_sum(p, normalised(p, exponentials(p, 1.0 / p.d_k)));
  });
}

TEST_CASE("faults: the softmax runs over the queries") {
  check_found([](const OneHead& p) {
    Values w = exponentials(p, usual_scale(p));
    for (int j = 0; j < p.T_k; ++j) {
      double sum = 0;
      for (int t = 0; t < p.T_q; ++t) sum += w[t * p.T_k + j];
      for (int t = 0; t < p.T_q; ++t) w[t * p.T_k + j] /= sum;
    }
    return weighted_sum(p, w);
  });
}

TEST_CASE("faults: the last key is dropped") {
  check_found([](const OneHead& p) {
    Values w = exponentials(p, usual_scale(p));
    for (int t = 0; t < p.T_q; ++t) w[t * p.T_k + p.T_k - 1] = 0;
    return weighted_sum(p, normalised(p, w));
  });
}

TEST_CASE("faults: a padded key takes part with score 0") {
  // It takes one percent of the weight, which is what bfloat16 weights may be off.
  constexpr Dtype kTypes[] = {Dtype::float32};
  check_found(
      [](const OneHead& p) {
        return weighted_sum(p, normalised(p, exponentials(p, usual_scale(p)), std::exp(0)));
      },
      kTypes);
}

TEST_CASE("faults: two rows are swapped") {
  const auto swap_rows = [](Values& o, int d_v) {
    std::swap_ranges(o.begin() + 3 * d_v, o.begin() + 4 * d_v, o.begin() + 7 * d_v);
  };
  check_found([&](const OneHead& p) {
    Values o = right(p);
    swap_rows(o, p.d_v);
    return o;
  });
  CHECK(pattern_of([&](Values& o) { swap_rows(o, 32); }) == "rows 3, 7");
}

TEST_CASE("faults: a block of rows is that of an earlier call") {
  check_found([](const OneHead& p) {
    Values o = right(p);
    OneHead earlier = p;
    for (double& q_i : earlier.q) q_i = -q_i;
    const Values stale = right(earlier);
    std::copy_n(stale.begin() + 16 * p.d_v, 16 * p.d_v, o.begin() + 16 * p.d_v);
    return o;
  });
  CHECK(pattern_of([](Values& o) { std::fill_n(o.begin() + 16 * 32, 16 * 32, 0.0); }) ==
        "rows 16 to 31");
}

TEST_CASE("faults: weights are zeroed and not normalised again") {
  check_found([](const OneHead& p) {
    Values w = normalised(p, exponentials(p, usual_scale(p)));
    for (int t = 0; t < p.T_q; ++t) w[t * p.T_k + t % p.T_k] = 0;
    return weighted_sum(p, w);
  });
}

TEST_CASE("faults: accumulation in float16 where float32 is declared") {
  Generator generator(13);
  for (int problem = 0; problem < 5; ++problem) {
    const OneHead p = random_problem(generator, 8, Dtype::float16);
    const Arithmetic declared{Dtype::float32, Dtype::float32, Dtype::float32};
    CHECK(judge(p,
                kernels::textbook<kernels::Float16>(p, kernels::Order::forward, kernels::as_it_is),
                Dtype::float16, declared)
              .outside > 0);
    CHECK(judge(p, kernels::flash<kernels::Float16>(p, 16, kernels::as_it_is), Dtype::float16,
                {Dtype::float32, Dtype::float16, Dtype::float16})
              .outside > 0);
  }
}

TEST_CASE("faults: values are clamped") {
  check_found([](const OneHead& p) {
    Values o = right(p);
    for (double& o_td : o) o_td = std::clamp(o_td, -0.25, 0.25);
    return o;
  });
}

TEST_CASE("faults: a NaN is replaced by zero") {
  Generator generator(14);
  OneHead p = random_problem(generator, 4, Dtype::float32);
  p.q[2 * p.d_k + 5] = std::nan("");
  Values o = right_values(p);
  const Arithmetic arithmetic{Dtype::float32, Dtype::float32, Dtype::float32};
  REQUIRE(std::isnan(o[2 * p.d_v]));
  CHECK(judge(p, o, Dtype::float32, arithmetic).outside == 0);
  for (double& o_td : o)
    if (std::isnan(o_td)) o_td = 0;
  const Judgement judgement = judge(p, o, Dtype::float32, arithmetic);
  CHECK(judgement.outside == p.d_v);
  CHECK(judgement.exact_nans == p.d_v);
  CHECK(judgement.pattern.text() == "row 2");
}

TEST_CASE("faults: the output of a square problem is transposed") {
  Generator generator(15);
  for (Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
    const OneHead p{48,
                    70,
                    16,
                    48,
                    normal(generator, 48 * 16, 1, dtype),
                    normal(generator, 70 * 16, 1, dtype),
                    normal(generator, 70 * 48, 1, dtype)};
    const Values o = right(p);
    Values transposed(o.size());
    for (int t = 0; t < 48; ++t)
      for (int d = 0; d < 48; ++d) transposed[d * 48 + t] = o[t * 48 + d];
    CHECK(judge(p, transposed, dtype, {Dtype::float32, dtype, dtype}).outside > 0);
  }
}
