#include "cli/commands.h"

#include "base/error.h"
#include "cli/problem_inputs.h"
#include "cli/progress.h"
#include "cli/result_file.h"
#include "cli/streams.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

namespace sdpa {

namespace {

/// What there is to say about the layout and the mask, on standard error.
void report(const ProblemInputs& inputs, const Heads& heads, bool verbose) {
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
  if (!verbose) return;
  const std::string layout = layout_text(inputs, heads.problem());
  if (!layout.empty()) complain(layout);
  complain(heads.mask().is_everything()
               ? "no mask"
               : heads.mask().text() + "; " +
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

}  // namespace

int run(const AttendOptions& options) {
  const ProblemInputs inputs = read_problem(options.problem);
  Heads heads = inputs.heads(options.settings);

  const Problem& problem = heads.problem();
  ResultFile output("output", options.output, problem.output_shape(), heads.dtype(),
                    options.format);
  std::optional<ResultFile> weights;
  if (options.weights)
    weights.emplace("weights", *options.weights, problem.rows_shape(problem.n.T_k), heads.dtype(),
                    options.format);

  // Both are complete before either appears.
  try {
    write_results(options, heads, output, weights);
  } catch (const Error&) {
    if (!output.is_finite()) warn_of_nan_inputs(inputs);
    throw;
  }
  if (!output.is_finite()) warn_of_nan_inputs(inputs);  // before an input may be overwritten
  try {
    output.commit();
  } catch (const Error&) {
    if (weights) weights->commit();  // also where the output cannot appear
    throw;
  }
  if (weights) weights->commit();
  output.warn();
  if (weights) weights->warn();
  report(inputs, heads, options.verbose);
  return 0;
}

}  // namespace sdpa
