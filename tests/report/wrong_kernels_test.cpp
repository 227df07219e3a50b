#include "report/wrong_kernels.h"

#include "catch.h"
#include "report/arrays.h"

#include <map>
#include <string>

using namespace sdpa;
using kernels::OneHead;

namespace {

using Fates = std::map<std::string, WrongKernelFate>;

constexpr Arithmetic kFloat32{Dtype::float32, Dtype::float32, Dtype::float32};

bool try_on(WrongKernels& wrong, const CloseLook& look) {
  return wrong.try_on(look, kFloat32, 1);
}

Fates fates(const WrongKernels& wrong) {
  Fates result;
  for (const WrongKernel& kernel : wrong.kernels())
    if (kernel.fate != WrongKernelFate::absent) result[std::string(kernel.name)] = kernel.fate;
  return result;
}

Fates fates(const CloseLook& look) {
  WrongKernels wrong;
  try_on(wrong, look);
  return fates(wrong);
}

Fates fates(const OneHead& p) {
  return fates(bound_of(p, Dtype::float32, kFloat32).close_look());
}

/// A look at the rows of `output` that allows each value an error.
CloseLook look_at(const OneHead& p, const std::vector<double>& output, double allowed) {
  CloseLook look{head_of(p, Dtype::float64)};
  if (!p.bias.empty()) look.survey = survey(look.head.visible, p.T_q, p.T_k, 1);
  for (int t = 0; t < p.T_q; ++t) {
    const auto first = output.begin() + t * p.d_v;
    const std::vector<double> each(static_cast<std::size_t>(p.d_v), allowed);
    look.rows.push_back({t, {first, first + p.d_v}, each, each});
  }
  look.value_sizes.resize(static_cast<std::size_t>(p.d_v));
  for (int at = 0; at < p.T_k * p.d_v; ++at)
    look.value_sizes[at % p.d_v] = std::max(look.value_sizes[at % p.d_v], std::fabs(p.v[at]));
  return look;
}

/// With which only `output` itself, to a ten-thousandth, would pass.
CloseLook narrow(const OneHead& p, const std::vector<double>& output) {
  return look_at(p, output, 1e-4);
}

// q = [[ln 2], [0]], k = [[1], [0]], v = [[3, 0], [0, 6]]
OneHead example() {
  return {2, 2, 1, 2, {0.6931471805599453, 0}, {1, 0}, {3, 0, 0, 6}};
}

}  // namespace

TEST_CASE("wrong kernels: ordinary data and the bound of float32 reject them all") {
  Generator generator(1);
  for (int problem = 0; problem < 5; ++problem)
    for (const auto& [name, fate] : fates(random_problem(generator, 16, Dtype::float32))) {
      INFO(name);
      // No score of such data is above 88.
      CHECK(fate ==
            (name == "without a maximum" ? WrongKernelFate::right : WrongKernelFate::rejected));
    }
}

TEST_CASE("wrong kernels: the results by which they are known") {
  // A bound around what a wrong kernel gives accepts it, and rejects the others. Values by hand.
  const OneHead p = example();
  const auto accepted = [&](const std::vector<double>& output) {
    std::string names;
    for (const auto& [name, fate] : fates(narrow(p, output)))
      if (fate != WrongKernelFate::rejected && name != "k and v swapped" &&
          name != "unscaled scores" && name != "without a maximum")
        names += name;
    return names;
  };
  CHECK(accepted({0, 0, 0, 0}) == "zeros");
  CHECK(accepted({1.5, 3, 1.5, 3}) == "mean of v");
  CHECK(accepted({3, 0, 3, 0}) == "without the last key");
  // Columns of exp(scores) are (2, 1) and (1, 1).
  CHECK(accepted({2, 3, 1, 3}) == "softmax over the queries");
}

TEST_CASE("wrong kernels: unscaled scores, and k and v swapped, by hand") {
  // d_k = 4: the scaled score is ln 2, the unscaled one 2 ln 2, so the weights would be 4/5 and
  // 1/5.
  const double ln2 = 0.6931471805599453;
  const OneHead p{
      1, 2, 4, 4, {2 * ln2, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0}, {5, 0, 0, 0, 0, 0, 0, 10}};
  const Fates unscaled = fates(narrow(p, {4, 0, 0, 2}));
  CHECK(unscaled.at("unscaled scores") != WrongKernelFate::rejected);
  CHECK(unscaled.at("zeros") == WrongKernelFate::rejected);

  // Swapped: scores 5 ln 2 and 0, weights 32/33 and 1/33, of which the keys keep the first.
  const Fates swapped = fates(narrow(p, {32.0 / 33, 0, 0, 0}));
  CHECK(swapped.at("k and v swapped") != WrongKernelFate::rejected);
  CHECK(swapped.at("unscaled scores") == WrongKernelFate::rejected);
}

TEST_CASE("wrong kernels: a bound that is too wide accepts them") {
  Generator generator(2);
  const OneHead p = random_problem(generator, 4, Dtype::float32);
  for (const auto& [name, fate] : fates(look_at(p, right_values(p), 100))) {
    if (name == "without a maximum") continue;
    INFO(name);
    CHECK(fate == WrongKernelFate::accepted);
  }
}

TEST_CASE("wrong kernels: what does not exist, or is right, does not count") {
  // One key: its value is the right result whatever the scores. d_k is not d_v.
  const Fates one_key = fates({1, 1, 2, 1, {1, 2}, {3, 4}, {5}});
  CHECK(one_key.at("zeros") == WrongKernelFate::rejected);
  CHECK(one_key.at("mean of v") == WrongKernelFate::right);
  CHECK(one_key.at("unscaled scores") == WrongKernelFate::right);
  CHECK(one_key.at("without the last key") == WrongKernelFate::right);
  CHECK_FALSE(one_key.contains("k and v swapped"));

  const Fates zero_values = fates({1, 2, 1, 1, {1}, {1, 2}, {0, 0}});
  CHECK(zero_values.at("zeros") == WrongKernelFate::right);

  const Fates zero_query = fates({1, 2, 4, 1, {0, 0, 0, 0}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2}});
  CHECK(zero_query.at("mean of v") == WrongKernelFate::right);
  CHECK(zero_query.at("unscaled scores") == WrongKernelFate::right);
}

TEST_CASE("wrong kernels: one head on which it is outside rejects a kernel") {
  const OneHead p = example();
  const std::vector<double> output = {2, 2, 1.5, 3};
  const CloseLook wide = look_at(p, output, 100), exact = narrow(p, output);
  WrongKernels wrong;
  CHECK(try_on(wrong, wide));
  CHECK(fates(wrong).at("zeros") == WrongKernelFate::accepted);
  CHECK_FALSE(try_on(wrong, exact));
  CHECK(fates(wrong).at("zeros") == WrongKernelFate::rejected);
  // But each head is judged or not by itself.
  CHECK(try_on(wrong, wide));
  CHECK(fates(wrong).at("zeros") == WrongKernelFate::rejected);
  CHECK(wrong.rows() == 6);
}
