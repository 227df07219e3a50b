// Speed of attention.
//
//   attention_bench [--threads N]
//       A table over sizes of normal float32 data: milliseconds and GFLOP/s (4 T^2 d operations a
//       head) of each precision, as a share of what multiply-adds alone reach, exact's time
//       relative to float64's, and the share of rows that climbed to double-double and to real
//       numbers; then the same for all exact ties.
//
//   attention_bench -q Q -k K -v V [-o OUT] [--threads N] [--precision P] --bench REPS
//       Times REPS passes over files, in this process, and prints "kernel_ms" and the milliseconds
//       of each.
//
// Both first compare a few rows with the textbook and refuse to time a wrong result.

#include "attention/heads.h"
#include "bench/peak.h"
#include "bench/problem.h"
#include "exact/ladder.h"
#include "io/array_file.h"
#include "io/array_writer.h"
#include "oracle/naive.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>

namespace {

using namespace sdpa;

struct Operands {
  Array q, k, v;
};

std::vector<double> as_doubles(const Array& array) {
  std::vector<double> values(static_cast<std::size_t>(array.shape().element_count()));
  read_elements(array, 0, array.shape().element_count(), values.data());
  return values;
}

/// Stops the program unless the first and the last row are those of the textbook, to the digits
/// that the arithmetic has.
void check(const Operands& problem, Settings settings) {
  const Array q = problem.q.matrix(0), k = problem.k.matrix(0), v = problem.v.matrix(0);
  if (settings.precision == Precision::float64) settings.dtype = Dtype::float64;
  const double tolerance = settings.precision == Precision::float64 ? 1e-12 : 1e-4;
  for (Index t : {Index{0}, q.shape()[0] - 1}) {
    const Array row = q.rows(t, 1);
    const std::vector<double> actual = as_doubles(attention(row, k, v, settings).output);
    const std::vector<double> q_t = as_doubles(row), keys = as_doubles(k), values = as_doubles(v);
    std::vector<double> expected(actual.size()), weights(static_cast<std::size_t>(k.shape()[0]));
    naive::attention(q_t.data(), keys.data(), values.data(), k.shape()[0], k.shape()[1],
                     v.shape()[1], weights.data(), expected.data());
    for (std::size_t d = 0; d < actual.size(); ++d)
      if (!(std::fabs(actual[d] - expected[d]) <= tolerance)) {
        std::fprintf(stderr, "row %td, column %zu is %.17g, the textbook gives %.17g\n", t, d,
                     actual[d], expected[d]);
        std::exit(1);
      }
  }
}

double milliseconds(const std::function<void()>& pass) {
  const auto begin = std::chrono::steady_clock::now();
  pass();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

Attention run_heads(const Operands& problem, const Settings& settings) {
  Heads heads(problem.q, problem.k, problem.v, settings);
  return heads.rows(0, heads.row_count());
}

void time_files(const Operands& problem, const Settings& settings, int repetitions,
                const std::string& out) {
  check(problem, settings);
  std::printf("kernel_ms");
  for (int i = 0; i < repetitions; ++i)
    std::printf(" %.5f", milliseconds([&] { run_heads(problem, settings); }));
  std::printf("\n");
  if (out.empty()) return;
  const Array output = run_heads(problem, settings).output;
  std::vector<Index> extents(problem.q.shape().extents().begin(),
                             problem.q.shape().extents().end());
  extents.back() = problem.v.shape().from_end(1);
  const auto writer = open_array_writer(out, Shape(extents), output.dtype());
  writer->append(output.bytes());
  writer->commit();
}

/// Medians of passes that take turns, so that a machine whose speed drifts treats all alike.
std::vector<double> medians(const std::vector<std::function<void()>>& passes) {
  constexpr int kRounds = 7;
  std::vector<std::vector<double>> times(passes.size());
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < passes.size(); ++i) times[i].push_back(milliseconds(passes[i]));
  std::vector<double> result;
  for (auto& list : times) {
    std::ranges::nth_element(list, list.begin() + kRounds / 2);
    result.push_back(list[kRounds / 2]);
  }
  return result;
}

void print_line(const char* what, const Operands& problem, int threads) {
  const Index T = problem.q.shape()[0], d = problem.q.shape()[1];
  std::vector<std::function<void()>> passes;
  for (Precision precision : {Precision::float32, Precision::float64, Precision::exact}) {
    Settings settings;
    settings.precision = precision;
    settings.threads = threads;
    check(problem, settings);
    passes.push_back([&problem, settings] { run_heads(problem, settings); });
  }
  const std::vector<double> ms = medians(passes);
  LadderCounts counts;
  const Head head = make_head(problem.q, problem.k, problem.v);
  const Norms norms = measure_norms(problem.k, problem.v, 1);
  const MeasuredRows all{{&head, 0, T, 0}, &norms};
  Attention results = empty_results(T, T, d, Dtype::float32, false);
  exact_attention({&all, 1}, threads, results, &counts);
  const double giga_operations = 4.0 * static_cast<double>(T * T * d) / 1e9;
  auto share = [T](Index rows) {
    return 100.0 * static_cast<double>(rows) / static_cast<double>(T);
  };
  const double float32 = giga_operations / ms[0] * 1e3, float64 = giga_operations / ms[1] * 1e3;
  std::printf("%-7s %5td %4td %9.2f %7.1f %5.0f %9.2f %7.1f %5.0f %9.2f %7.2f %12.2f %6.2f\n", what,
              T, d, ms[0], float32, 100 * float32 / bench::peak().float32() / threads, ms[1],
              float64, 100 * float64 / bench::peak().float64() / threads, ms[2], ms[2] / ms[1],
              share(counts.double_double), share(counts.real));
}

void print_table(int threads) {
  constexpr const char* kLine = "%-7s %5s %4s %9s %7s %5s %9s %7s %5s %9s %7s %12s %6s\n";
  std::printf(kLine, "data", "T", "d", "float32", "GFLOP/s", "% of", "float64", "GFLOP/s", "% of",
              "exact", "exact/", "% of rows to", "% to");
  std::printf(kLine, "", "", "", "ms", "", "peak", "ms", "", "peak", "ms", "float64",
              "double-double", "real");
  for (Index T : {256, 1024, 4096})
    for (Index d : {64, 128})
      print_line("normal",
                 {bench::normal_matrix(T, d, 1), bench::normal_matrix(T, d, 2),
                  bench::normal_matrix(T, d, 3)},
                 threads);
  for (Index T : {256, 1024})
    print_line("ties",
               {bench::normal_matrix(T, 64, 1, 0), bench::normal_matrix(T, 64, 2),
                bench::tie_matrix(T, 64)},
               threads);
}

}  // namespace

int main(int argc, char* argv[]) {
  CLI::App app("Speed of attention");
  std::string q, k, v, out;
  Settings settings;
  int repetitions = 7;
  app.add_option("-q", q);
  app.add_option("-k", k);
  app.add_option("-v", v);
  app.add_option("-o", out);
  app.add_option("--threads", settings.threads);
  app.add_option("--bench", repetitions);
  app.add_option("--precision", settings.precision)
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Precision>{{"exact", Precision::exact},
                                           {"float64", Precision::float64},
                                           {"float32", Precision::float32}}));
  CLI11_PARSE(app, argc, argv);
  if (q.empty())
    print_table(settings.threads);
  else
    time_files({read_array(q), read_array(k), read_array(v)}, settings, repetitions, out);
}
