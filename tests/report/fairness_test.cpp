// The bound must hold every honest kernel, and no more than it must: on each kind of data the largest
// error of any of them is between a twentieth of its bound and the bound.
//
// SDPA_FAIRNESS=3000 runs that many problems of each kind in place of a sample.

#include "catch.h"
#include "report/arrays.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

using namespace sdpa;
using kernels::Problem;

namespace {

/// Data of one kind.
struct Kind {
  const char* name;
  Dtype inputs;
  bool exact;  ///< results may be exact: then there is no smallest error
  std::function<Problem(Generator&, int T_q)> problem;
};

/// Elements of a matrix of a problem, as a function of row and column.
void for_each(std::vector<double>& matrix, int columns,
              const std::function<void(double& x, int row, int column)>& change) {
  for (std::size_t at = 0; at < matrix.size(); ++at)
    change(matrix[at], static_cast<int>(at) / columns, static_cast<int>(at) % columns);
}

Problem normal_problem(Generator& generator, int T_q, int T_k, int d_k, int d_v, Dtype dtype) {
  return {T_q,
          T_k,
          d_k,
          d_v,
          normal(generator, T_q * d_k, 1, dtype),
          normal(generator, T_k * d_k, 1, dtype),
          normal(generator, T_k * d_v, 1, dtype)};
}

/// A kind of float32 data made of normal values.
Kind changed(const char* name, const std::function<void(Problem&, Generator&)>& change,
             int T_k = 100, int d = 32, Dtype dtype = Dtype::float32, bool exact = false) {
  return {name, dtype, exact, [=](Generator& generator, int T_q) {
            Problem p = normal_problem(generator, T_q, T_k, d, d, dtype);
            change(p, generator);
            for (auto* matrix : {&p.q, &p.k, &p.v})
              for (double& x : *matrix) x = rounded(x, dtype);
            return p;
          }};
}

void scale(std::vector<double>& matrix, double factor) {
  for (double& x : matrix) x *= factor;
}

double chosen(Generator& generator, double lowest, double highest) {
  return std::uniform_real_distribution(lowest, highest)(generator);
}

void unchanged(Problem&, Generator&) {}

const Kind kKinds[] = {
    changed("normal", unchanged),
    changed("normal, d 128", unchanged, 60, 128),
    changed("normal, d 1", unchanged, 100, 1),
    changed("normal, 2000 keys", unchanged, 2000, 8),
    changed("normal, 16384 keys", unchanged, 16384, 2),
    changed("two keys", unchanged, 2),
    changed("one key", unchanged, 1, 32, Dtype::float32, true),
    changed("five keys", unchanged, 5),
    changed("q times 5", [](Problem& p, Generator&) { scale(p.q, 5); }),
    changed("q times 30: peaked", [](Problem& p, Generator&) { scale(p.q, 30); }),
    changed("near-uniform",
            [](Problem& p, Generator&) {
              scale(p.q, 0.01);
              scale(p.k, 0.01);
            }),
    changed(
        "near-uniform, 4096 keys",
        [](Problem& p, Generator&) {
          scale(p.q, 0.01);
          scale(p.k, 0.01);
        },
        4096, 4),
    changed(
        "nearer to uniform, 1000 keys",
        [](Problem& p, Generator&) {
          scale(p.q, 1e-4);
          scale(p.k, 0.1);
        },
        1000, 8),
    changed("q is zero", [](Problem& p, Generator&) { scale(p.q, 0); }),
    changed("one sign",
            [](Problem& p, Generator&) {
              for (auto* matrix : {&p.q, &p.k, &p.v})
                for (double& x : *matrix) x = std::fabs(x);
            }),
    changed("values near 1",
            [](Problem& p, Generator&) {
              for (double& x : p.v) x = 1 + x / 100;
            }),
    changed("values of wide exponents",
            [](Problem& p, Generator& generator) {
              for (double& x : p.v) x *= std::exp2(chosen(generator, -30, 30));
            }),
    changed("keys of wide exponents",
            [](Problem& p, Generator& generator) {
              for (double& x : p.k) x *= std::exp2(chosen(generator, -10, 3));
            }),
    changed("keys far from 0",
            [](Problem& p, Generator&) {
              for (double& x : p.k) x = 100 + x;
            }),
    changed("values far from 0",
            [](Problem& p, Generator&) {
              for (double& x : p.v) x = 1e4 + x;
            }),
    changed(
        "alternating values, 1000 keys",
        [](Problem& p, Generator&) {
          for_each(p.v, p.d_v, [](double& x, int j, int) {
            x = (j % 2 == 0 ? 1 : -1) * (1 + std::fabs(x) / 10);
          });
        },
        1000, 8),
    changed(
        "sorted values, 1000 keys",
        [](Problem& p, Generator&) {
          for_each(p.v, p.d_v, [](double& x, int j, int) { x = j / 500.0 - 1 + x / 100; });
        },
        1000, 8),
    changed("repeated keys",
            [](Problem& p, Generator&) {
              for (int at = 3 * p.d_k; at < p.T_k * p.d_k; ++at) p.k[at] = p.k[at % (3 * p.d_k)];
              for (int at = 3 * p.d_v; at < p.T_k * p.d_v; ++at) p.v[at] = p.v[at % (3 * p.d_v)];
            }),
    changed("the last half of the keys is the same one",
            [](Problem& p, Generator&) {
              for_each(p.k, p.d_k, [](double& x, int j, int) { x = j >= 50 ? 0 : x; });
              for_each(p.v, p.d_v, [](double& x, int j, int) { x = j >= 50 ? 0.3 : x; });
            }),
    changed("a key that nobody sees",
            [](Problem& p, Generator&) {
              for_each(p.q, p.d_k, [](double& x, int, int i) { x = i == 0 ? 1 : x; });
              for_each(p.k, p.d_k,
                       [](double& x, int j, int i) { x = j == 7 && i == 0 ? -1e6 : x; });
            }),
    changed("one large column of q and k",
            [](Problem& p, Generator&) {
              for_each(p.q, p.d_k, [](double& x, int, int i) { x *= i == 3 ? 50 : 1; });
              for_each(p.k, p.d_k, [](double& x, int, int i) { x *= i == 3 ? 0.5 : 1; });
            }),
    changed("a large value of one key",
            [](Problem& p, Generator&) {
              for_each(p.v, p.d_v, [](double& x, int j, int) { x *= j == 11 ? 1000 : 1; });
            }),
    changed("bfloat16", unchanged, 100, 32, Dtype::bfloat16),
    changed(
        "bfloat16, near-uniform", [](Problem& p, Generator&) { scale(p.q, 0.01); }, 300, 16,
        Dtype::bfloat16),
    changed(
        "bfloat16, q times 5", [](Problem& p, Generator&) { scale(p.q, 5); }, 100, 32,
        Dtype::bfloat16),
    changed("float16", unchanged, 100, 32, Dtype::float16),
    changed(
        "float16, one sign",
        [](Problem& p, Generator&) {
          for (auto* matrix : {&p.q, &p.k, &p.v})
            for (double& x : *matrix) x = std::fabs(x);
        },
        100, 32, Dtype::float16),
};

double to_bfloat16(double value) {
  return rounded(value, Dtype::bfloat16);
}

double to_float16(double value) {
  return rounded(value, Dtype::float16);
}

/// Runs all ways of a kernel on problems of a kind, and demands that every value is within its
/// bound. Returns the largest multiple of it.
double largest_multiple(const Kind& kind, int problems, Dtype output) {
  const bool is_short = kind.inputs != Dtype::float32;
  const Arithmetic arithmetic{Dtype::float32, is_short ? kind.inputs : Dtype::float32, output};
  Generator generator(20261130);
  double largest = 0;
  for (int problem = 0; problem < problems; ++problem) {
    // Of two rows both are looked at closely, of 40 some.
    const Problem p = kind.problem(generator, problem % 10 == 9 ? 40 : 2);
    const Judging judging(p, kind.inputs, arithmetic);
    for (const kernels::Way& way : kernels::kWays) {
      INFO(kind.name << ", problem " << problem << ", " << way.name);
      const Judgement judgement =
          judging(kernels::honest(p, way,
                                  !is_short                       ? kernels::as_it_is
                                  : kind.inputs == Dtype::float16 ? to_float16
                                                                  : to_bfloat16));
      if (judgement.worst_multiple > largest) largest = judgement.worst_multiple;
      CHECK(judgement.outside == 0);
      CHECK(judgement.unbounded == 0);
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("fairness: honest kernels are within the bound, and it is within 20 of their errors") {
  const char* count = std::getenv("SDPA_FAIRNESS");
  for (const Kind& kind : kKinds) {
    const bool is_short = kind.inputs != Dtype::float32;
    const int problems = count != nullptr ? std::stoi(count) : 10;
    const double largest =
        largest_multiple(kind, problems, is_short ? kind.inputs : Dtype::float32);
    std::printf("%-45s largest error / bound in %d problems: %.3f\n", kind.name, problems, largest);
    INFO(kind.name);
    if (!kind.exact) CHECK(largest >= 0.05);
    if (is_short) largest_multiple(kind, 3, Dtype::float32);
  }
}
