// sdpa_hash THREADS: computes a fixed set of problems in every precision and output type and prints
// one hash of the results' bytes a line. The inputs are made from integers without any function of
// the mathematics library, so each build on each machine must print the same lines;
// tests/same_bytes_test.sh compares them.

#include "attention/attention.h"
#include "oracle/matrix.h"
#include "oracle/random.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

struct Problem {
  const char* name;
  Array q, k, v;
};

template <class Value>
Array filled(Index rows, Index columns, Dtype dtype, Value value) {
  std::vector<double> values(static_cast<std::size_t>(rows * columns));
  for (double& each : values) each = value();
  return matrix(rows, columns, values, dtype);
}

/// 2^exponent, exponent in [-1074, 1023].
double power_of_two(std::int64_t exponent) {
  double power = 1;
  for (; exponent > 0; --exponent) power *= 2;
  for (; exponent < 0; ++exponent) power /= 2;
  return power;
}

std::vector<Problem> problems() {
  Random random(1);
  const auto normal = [&] { return random.normal(); };
  const auto wide = [&] { return random.normal() * power_of_two(random.integer(-300, 300)); };
  const auto integer = [&] { return static_cast<double>(random.integer(-3, 3)); };
  const auto tiny = [&] { return random.normal() * 0x1p-1070; };
  const auto neighbour = [&] { return 1 + static_cast<double>(random.integer(0, 1)) * 0x1p-23; };
  const auto not_finite = [&] {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    const double values[] = {kInf, -kInf, std::numeric_limits<double>::quiet_NaN()};
    return random.one_in(8) ? values[random.integer(0, 2)] : random.normal();
  };

  std::vector<Problem> all;
  for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    all.push_back({"normal", filled(37, 64, dtype, normal), filled(300, 64, dtype, normal),
                   filled(300, 33, dtype, normal)});
  // Worth a second thread, which shares the keys.
  all.push_back({"many keys", filled(3, 48, Dtype::float32, normal),
                 filled(16500, 48, Dtype::float32, normal),
                 filled(16500, 40, Dtype::float32, normal)});
  const Dtype float64 = Dtype::float64;
  all.push_back({"wide", filled(9, 5, float64, wide), filled(21, 5, float64, wide),
                 filled(21, 4, float64, wide)});
  all.push_back({"integers", filled(19, 3, float64, integer), filled(40, 3, float64, integer),
                 filled(40, 7, float64, integer)});
  all.push_back({"subnormals", filled(5, 3, float64, tiny), filled(7, 3, float64, tiny),
                 filled(7, 4, float64, tiny)});
  all.push_back({"ties", filled(5, 2, float64, integer), filled(30, 2, float64, integer),
                 filled(30, 8, float64, neighbour)});
  all.push_back({"not finite in q", filled(20, 2, float64, not_finite),
                 filled(5, 2, float64, normal), filled(5, 3, float64, normal)});
  all.push_back({"not finite in k", filled(5, 2, float64, normal),
                 filled(5, 2, float64, not_finite), filled(5, 3, float64, normal)});
  all.push_back({"not finite in v", filled(5, 2, float64, normal), filled(5, 2, float64, normal),
                 filled(5, 40, float64, not_finite)});
  return all;
}

/// FNV-1a (Fowler, Noll, Vo), 64 bits, continued from `hash`.
std::uint64_t hashed(std::uint64_t hash, const Array& array) {
  for (std::byte byte : array.bytes())
    hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3;
  return hash;
}

}  // namespace

int main(int argc, char* argv[]) {
  const int threads = argc == 2 ? std::atoi(argv[1]) : 0;
  if (threads < 1) {
    std::fputs("usage: sdpa_hash THREADS\n", stderr);
    return 2;
  }
  const char* precisions[] = {"exact", "float64", "float32"};
  for (const Problem& problem : problems())
    for (Precision precision : {Precision::exact, Precision::float64, Precision::float32})
      for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
        const Attention result =
            attention(problem.q, problem.k, problem.v, {precision, dtype, threads, true});
        const std::uint64_t hash =
            hashed(hashed(0xCBF29CE484222325, result.output), *result.weights);
        std::printf("%016llx %s, %s inputs, %s, %s results\n",
                    static_cast<unsigned long long>(hash), problem.name,
                    std::string(name(problem.q.dtype())).c_str(),
                    precisions[static_cast<int>(precision)], std::string(name(dtype)).c_str());
      }
  return 0;
}
