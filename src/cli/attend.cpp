#include "cli/commands.h"

#include "attention/heads.h"
#include "base/error.h"
#include "cli/nan_inputs.h"
#include "cli/progress.h"
#include "cli/result_file.h"
#include "cli/streams.h"
#include "io/array_file.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

namespace sdpa {

namespace {

struct Inputs {
  Array q, k, v;
  OperandNames names;
  MaskOptions mask;
};

Inputs read_inputs(const AttendOptions& options) {
  if (options.problem.case_file) {
    const Case c = read_case(*options.problem.case_file, mask_member_names());
    const std::string place = place_of(*options.problem.case_file);
    return {c.q,
            c.k,
            c.v,
            {place + ": q", place + ": k", place + ": v"},
            read_mask(options.problem.mask, c.others, place)};
  }
  return {read_array(options.problem.q),
          read_array(options.problem.k),
          read_array(options.problem.v),
          {place_of(options.problem.q), place_of(options.problem.k), place_of(options.problem.v)},
          read_mask(options.problem.mask)};
}

/// What there is to say about the mask, on standard error.
void report_mask(const Heads& heads, bool verbose) {
  if (heads.mask().is_everything()) {
    if (verbose) complain("no mask");
    return;
  }
  const MaskCounts& counts = heads.mask_counts();
  const std::string warning = heads.mask().warning();
  if (!warning.empty()) complain("warning: " + warning);
  if (counts.empty_rows != 0) {
    constexpr const char* kHold[] = {"zeros", "NaN", "the mean of v", ""};
    complain("warning: " + std::to_string(counts.empty_rows) + " of " +
             std::to_string(heads.row_count()) + " rows see no key, the first at " +
             heads.row_text(*counts.first_empty_row) + "; they hold " +
             kHold[static_cast<int>(heads.mask().empty_rows())]);
  }
  if (verbose)
    complain(heads.mask().text() + "; " +
             visible_text(counts.visible_pairs, counts.pairs, counts.empty_rows));
}

/// Computes all rows of all heads and writes them.
void write_results(const AttendOptions& options, Heads& heads, ResultFile& output,
                   std::optional<ResultFile>& weights) {
  const Problem& problem = heads.problem();
  const bool writes_to_terminal = options.output == "-" && isatty(STDOUT_FILENO) == 1;
  std::optional<Progress> progress;
  progress.emplace(options.progress, writes_to_terminal, heads.row_count());
  std::optional<Array> whole;
  if (!problem.output_is_in_order()) whole = Array(problem.output_shape(), heads.dtype());
  const Index slab = heads.rows_at_a_time();
  for (Index first = 0; first < heads.row_count(); first += slab) {
    const Index count = std::min(slab, heads.row_count() - first);
    const Attention result = heads.rows(first, count);
    if (whole)
      problem.place_rows(result.output, first, *whole);
    else
      output.append(result.output);
    if (weights) weights->append(*result.weights);
    progress->add(count);
  }

  if (whole) output.append(*whole);
  progress.reset();

  output.finish();
  if (weights) weights->finish();
}

/// Where the output is not finite: a warning for each file of the inputs that has NaN.
void warn_of_nan_inputs(const AttendOptions& options, const Inputs& in, const ResultFile& output) {
  if (output.is_finite()) return;
  const auto warn = [&](const Array& array, const std::string& word, const std::string& place) {
    warn_of_nans(array, options.problem.case_file.value_or(word), place);
  };
  warn(in.q, options.problem.q, in.names.q);
  if (in.names.k != in.names.q) warn(in.k, options.problem.k, in.names.k);
  if (in.names.v != in.names.q && in.names.v != in.names.k)
    warn(in.v, options.problem.v, in.names.v);
}

}  // namespace

int run(const AttendOptions& options) {
  const Inputs in = read_inputs(options);
  Heads heads(in.q, in.k, in.v, options.settings, options.problem.layout(), in.names, in.mask);

  const Problem& problem = heads.problem();
  ResultFile output("output", options.output, problem.output_shape(), heads.dtype());
  std::optional<ResultFile> weights;
  if (options.weights)
    weights.emplace("weight", *options.weights, problem.rows_shape(problem.n.T_k), heads.dtype());

  // Both are complete before either appears.
  try {
    write_results(options, heads, output, weights);
  } catch (const Error&) {
    warn_of_nan_inputs(options, in, output);
    throw;
  }
  warn_of_nan_inputs(options, in, output);  // before an input may be overwritten
  try {
    output.commit();
  } catch (const Error&) {
    if (weights) weights->commit();  // also where the output cannot appear
    throw;
  }
  if (weights) weights->commit();
  output.warn();
  if (weights) weights->warn();
  report_mask(heads, options.verbose);
  return 0;
}

}  // namespace sdpa
