#include "cli/commands.h"

#include "attention/score_rows.h"
#include "base/error.h"
#include "cli/problem_inputs.h"
#include "cli/progress.h"
#include "cli/result_file.h"
#include "cli/streams.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
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
  const std::string scoring = heads.scoring().text();
  if (!scoring.empty()) complain(scoring);
  complain(heads.mask().is_everything()
               ? "no mask"
               : heads.mask().text() + "; " +
                     visible_text(counts.visible_pairs, counts.pairs, counts.empty_rows));
}

/// The files that are written.
struct Results {
  Results(const AttendOptions& options, const Heads& heads, Dtype of_scores)
      : output("output", options.output, heads.problem().output_shape(), heads.dtype(),
               options.format) {
    const Problem& problem = heads.problem();
    const auto open = [&](std::optional<ResultFile>& file, const char* kind,
                          const std::optional<std::string>& path, const Shape& shape, Dtype dtype) {
      if (path) file.emplace(kind, *path, shape, dtype, options.format);
    };
    open(weights, "weights", options.weights, problem.rows_shape(problem.n.T_k), heads.dtype());
    const Shape rows = problem.rows_shape(1);
    open(lse, "lse", options.lse, Shape({rows.extents().begin(), rows.extents().end() - 1}),
         of_scores);
    open(scores, "scores", options.scores, problem.rows_shape(problem.n.T_k), of_scores);
    if (lse) lse->expect_minus_infinity();
    if (scores) scores->expect_minus_infinity();
  }

  template <class Act>
  void for_each(Act act) {
    act(output);
    for (std::optional<ResultFile>* file : {&weights, &lse, &scores})
      if (*file) act(**file);
  }

  ResultFile output;
  std::optional<ResultFile> weights, lse, scores;
};

/// Computes all rows of all heads and writes them.
void write_results(const AttendOptions& options, Heads& heads, ScoreRows& score_rows,
                   Results& results) {
  constexpr Index kScores = Index{1} << 20;
  const Problem& problem = heads.problem();
  const bool writes_to_terminal = options.output == "-" && isatty(STDOUT_FILENO) == 1;
  std::optional<Progress> progress;
  progress.emplace(options.progress, writes_to_terminal, heads.row_count());
  std::optional<Array> whole;
  if (!problem.output_is_in_order()) whole = Array(problem.output_shape(), heads.dtype());
  Index slab = heads.rows_at_a_time();
  if (results.scores) slab = std::min(slab, std::max<Index>(1, kScores / problem.n.T_k));
  for (Index first = 0; first < heads.row_count(); first += slab) {
    const Index count = std::min(slab, heads.row_count() - first);
    const Attention result = heads.rows(first, count);
    if (whole)
      problem.place_rows(result.output, first, *whole);
    else
      results.output.append(result.output);
    if (results.weights) results.weights->append(*result.weights);
    if (results.lse) results.lse->append(score_rows.log_sums(first, count));
    if (results.scores)
      results.scores->append(score_rows.scores(first, count, options.scores_after));
    progress->add(count);
  }

  if (whole) results.output.append(*whole);
  progress.reset();
  results.for_each([](ResultFile& file) { file.finish(); });
}

/// Makes all files appear, also those behind one that cannot. Throws the first Error.
void commit(Results& results) {
  std::exception_ptr failure;
  results.for_each([&](ResultFile& file) {
    try {
      file.commit();
    } catch (const Error&) {
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

int run(const AttendOptions& options) {
  const ProblemInputs inputs = read_problem(options.problem);
  Heads heads = inputs.heads(options.settings);

  if (options.scores && heads.problem().packing.is_packed())
    throw Error("--scores", "those of packed sequences are matrices of different shapes");
  ScoreRows score_rows(heads, options.settings.threads);
  Results results(options, heads, score_rows.dtype());

  // All are complete before any appears.
  try {
    write_results(options, heads, score_rows, results);
  } catch (const Error&) {
    if (!results.output.is_finite()) warn_of_nan_inputs(inputs);
    throw;
  }
  if (!results.output.is_finite())
    warn_of_nan_inputs(inputs);  // before an input may be overwritten
  commit(results);
  results.for_each([](const ResultFile& file) { file.warn(); });
  report(inputs, heads, options.verbose);
  return 0;
}

}  // namespace sdpa
