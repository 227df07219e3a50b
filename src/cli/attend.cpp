#include "cli/commands.h"

#include "attention/attention.h"
#include "attention/problem.h"
#include "cli/progress.h"
#include "cli/result_file.h"
#include "io/array_file.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

namespace sdpa {

namespace {

struct Inputs {
  Array q, k, v;
  OperandNames names;
};

Inputs read_inputs(const AttendOptions& options) {
  if (options.problem.case_file) {
    const Case c = read_case(*options.problem.case_file);
    const std::string place = place_of(*options.problem.case_file);
    return {c.q, c.k, c.v, {place + ": q", place + ": k", place + ": v"}};
  }
  return {read_array(options.problem.q),
          read_array(options.problem.k),
          read_array(options.problem.v),
          {place_of(options.problem.q), place_of(options.problem.k), place_of(options.problem.v)}};
}

/// Shape of a result: the leading extents of q, then T_q and `last`.
Shape result_shape(const Array& q, Index last) {
  std::vector<Index> extents(q.shape().extents().begin(), q.shape().extents().end());
  extents.back() = last;
  return Shape(std::move(extents));
}

/// Rows of q computed at a time: few enough that each thread is done within some tenths of a
/// second, as far as that leaves the kernel rows enough. The weights of one slab are all that is
/// ever held of them.
Index rows_per_slab(const Extents& n, const Settings& settings) {
  constexpr Index kFewest = 512, kMost = 4096;
  constexpr double kProductsPerThread = 0x1p31;
  constexpr Index kWeights = Index{1} << 20;
  if (settings.weights) return std::clamp<Index>(kWeights / n.T_k, 1, kMost);
  const double products_per_row =
      static_cast<double>(n.T_k) * (static_cast<double>(n.d_k) + static_cast<double>(n.d_v));
  const double rows = kProductsPerThread * settings.threads / products_per_row;
  return std::clamp(static_cast<Index>(std::min(rows, static_cast<double>(kMost))), kFewest, kMost);
}

}  // namespace

int run(const AttendOptions& options) {
  const Inputs in = read_inputs(options);
  const Extents n = check_shapes(in.q, in.k, in.v, in.names);
  Settings settings = options.settings;
  if (!settings.dtype)
    settings.dtype = result_type(result_type(in.q.dtype(), in.k.dtype()), in.v.dtype());

  ResultFile output("output", options.output, result_shape(in.q, n.d_v), *settings.dtype);
  std::optional<ResultFile> weights;
  if (options.weights)
    weights.emplace("weight", *options.weights, result_shape(in.q, n.T_k), *settings.dtype);

  const bool writes_to_terminal = options.output == "-" && isatty(STDOUT_FILENO) == 1;
  std::optional<Progress> progress;
  progress.emplace(options.progress, writes_to_terminal, n.batch * n.T_q);
  const Index slab = rows_per_slab(n, settings);
  for (Index head = 0; head < n.batch; ++head) {
    const Array q = in.q.matrix(head);
    const KeyValueAttention attention(in.k.matrix(head), in.v.matrix(head), settings);
    for (Index first = 0; first < n.T_q; first += slab) {
      const Array rows = q.rows(first, std::min(slab, n.T_q - first));
      const Attention result = attention(rows);
      output.append(result.output);
      if (weights) weights->append(*result.weights);
      progress->add(rows.shape().extents().front());
    }
  }

  progress.reset();

  // Both are complete before either appears.
  output.finish();
  if (weights) weights->finish();
  output.commit();
  if (weights) weights->commit();
  output.warn();
  if (weights) weights->warn();
  return 0;
}

}  // namespace sdpa
