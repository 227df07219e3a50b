#pragma once

#include "report/finding.h"

#include "catch.h"
#include "report/faulty_kernels.h"

#include <cstdlib>
#include <cstring>

/// Plants faults in kernels and demands that they are named.
namespace fault_naming {

using namespace sdpa;
using faulty::Inputs;
using faulty::Kernel;
using Values = std::vector<double>;

inline Index problems() {
  const char* count = std::getenv("SDPA_FAULTS");
  return count == nullptr ? 4 : std::atol(count);
}

/// What is found out about an output.
inline std::vector<Resemblance> named(const Inputs& in, const Values& actual, Dtype dtype,
                                      const MaskOptions& mask = {}) {
  const HeadsOf heads = [&](const Settings& settings) {
    return Heads(array_of(in.q, {in.H, in.T_q, in.d_k}), array_of(in.k, {in.G, in.T_k, in.d_k}),
                 array_of(in.v, {in.G, in.T_k, in.d_v}), settings, {}, {}, mask);
  };
  const Array output = array_of(actual, {in.H, in.T_q, in.d_v}, dtype);
  const Arithmetic arithmetic{Dtype::float32, Dtype::float32, dtype};
  const Finding finding = find(heads, output, arithmetic, 1, [](Index) {});
  if (finding.verdict() != Verdict::outside) return {};
  const Heads right = heads({});
  return find_faults(judged_output(right, output, arithmetic, finding.judgement, 1)).resembles;
}

inline std::string text(const std::vector<Resemblance>& all) {
  std::string text;
  for (const Resemblance& one : all)
    text += one.fault + " (" + one.words + ") " + one.evidence.where + "; ";
  return text;
}

inline bool is_near(const FaultParameter& a, const FaultParameter& b) {
  if (const double* x = std::get_if<double>(&a))
    if (const double* y = std::get_if<double>(&b))
      return std::fabs(*x - *y) <= 1e-3 * std::fabs(*y);
  return a == b;
}

/// One problem with a fault in it.
struct Planted {
  Values output;
  FaultParameter parameter = {};
  MaskOptions mask = {};
  std::string where = kEverywhere;
};

using Plant = std::function<Planted(Generator&, const Inputs&)>;

inline int any(Generator& generator, int first, int last) {
  return std::uniform_int_distribution(first, last)(generator);
}

inline void check_named(const std::string& fault, int groups, int heads_of_group,
                        const Plant& plant) {
  Generator generator(std::hash<std::string>()(fault));
  for (Index problem = 0; problem < problems(); ++problem)
    for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16}) {
      const Inputs in = faulty::random_inputs(generator, dtype, groups, heads_of_group);
      const Planted planted = plant(generator, in);
      const std::vector<Resemblance> all = named(in, planted.output, dtype, planted.mask);
      INFO("problem " << problem << ", " << name(dtype) << ", T_q " << in.T_q << ", T_k " << in.T_k
                      << ", d " << in.d_k << ", " << in.d_v << ": " << text(all));
      const auto found = std::ranges::find(all, fault, &Resemblance::fault);
      REQUIRE(found != all.end());
      CHECK(is_near(found->parameter, planted.parameter));
      CHECK(found->evidence.where == planted.where);
    }
}

inline MaskOptions causal() {
  return {.causal = true, .align = Alignment{}};
}

inline std::vector<Index> range(int first, int end) {
  return {first, end};
}

}  // namespace fault_naming
