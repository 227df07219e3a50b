#include "base/error.h"
#include "cli/check_problem_text.h"
#include "cli/check_text.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/report_text.h"
#include "cli/result_file.h"
#include "cli/streams.h"
#include "io/argument.h"
#include "io/array_file.h"
#include "report/finding.h"
#include "report/number_type.h"

#include <algorithm>

namespace sdpa {

namespace {

/// Throws Error if the array cannot be an output of these inputs.
void require_output(const CheckedOutput& output, const Shape& shape) {
  if (!(output.actual.shape() == shape))
    throw Error(output.place, "shape " + output.actual.shape().text() +
                                  ", but the output of these inputs has shape " + shape.text());
  if (!is_float(output.actual.dtype()))
    throw Error(output.place,
                std::string(name(output.actual.dtype())) + " is not a type of results");
}

/// The word of the command line that names the output, or the case file that holds it.
const std::string& word_of_actual(const CheckOptions& options) {
  return options.actual.empty() ? *options.problem.case_file : options.actual;
}

/// The type of the output's numbers: narrower than that of its file if all numbers are and enough of
/// the exact results are not; that of the file if ACTUAL names one.
Dtype type_of_numbers(const CheckOptions& options, const ProblemInputs& inputs,
                      const Array& actual) {
  const Dtype own = actual.dtype();
  if (parse_argument(word_of_actual(options)).dtype) return own;
  const std::optional<Dtype> narrower = narrower_type(actual);
  if (!narrower) return own;
  Heads exact = inputs.heads({.dtype = own, .threads = options.threads});
  constexpr Index kRowsAtOnce = 64, kMostRows = 1024;
  Index wider = 0;
  for (Index first = 0; first < std::min(exact.row_count(), kMostRows); first += kRowsAtOnce) {
    const Index rows = std::min(kRowsAtOnce, exact.row_count() - first);
    wider += count_wider(exact.rows(first, rows).output, *narrower);
    if (wider >= needed_evidence(*narrower)) return *narrower;
  }
  return own;
}

/// That inputs are of 16 bits says nothing of a kernel whose output has another type.
bool has_short_values(const Array& v, Dtype output) {
  return size_bytes(output) == 2 && (v.dtype() == output || narrower_type(v) == output);
}

/// errors   null, or where those of all values go
Finding judged(const CheckOptions& options, const ProblemInputs& inputs, const Array& actual,
               const Problem& problem, float* errors) {
  Progress progress(options.progress, false, problem.row_count());
  Finding finding =
      find([&](const Settings& settings) { return inputs.heads(settings); }, actual,
           options.arithmetic.of(actual.dtype(), has_short_values(inputs.v, actual.dtype())),
           options.threads, [&](Index rows) { progress.add(rows); }, errors);
  finding.strict = options.strict;
  return finding;
}

/// Writes the errors of all values, (rows of all heads, d_v), as the output lies.
void write_error_map(const std::string& path, const Problem& problem, const Array& errors) {
  ResultFile file("error", path, problem.output_shape(), Dtype::float32);
  if (problem.output_is_in_order()) {
    file.append(errors);
  } else {
    Array whole(problem.output_shape(), Dtype::float32);
    problem.place_rows(errors, 0, whole);
    file.append(whole);
  }
  file.finish();
  file.commit();
  file.warn();
}

}  // namespace

int run(const CheckOptions& options) {
  const bool is_in_case = options.actual.empty();
  const Array file = is_in_case ? Array() : read_array(options.actual);
  const ProblemInputs inputs = read_problem(options.problem, is_in_case);
  CheckedOutput output = is_in_case ? CheckedOutput{inputs.output->name, inputs.output->array,
                                                    inputs.output->array.dtype()}
                                    : CheckedOutput{place_of(options.actual), file, file.dtype()};
  const Problem problem = check_shapes(inputs.q, inputs.k, inputs.v, inputs.layout, inputs.names);
  require_output(output, problem.output_shape());
  output.actual = problem.in_order(output.actual);  // as places are reported
  if (const Dtype type = type_of_numbers(options, inputs, output.actual);
      type != output.actual.dtype())
    output.actual = narrowed(output.actual, type);

  Array errors;
  if (options.error_map)
    errors = Array(Shape({problem.row_count(), problem.n.d_v}), Dtype::float32);
  Finding finding =
      judged(options, inputs, output.actual, problem,
             options.error_map ? reinterpret_cast<float*>(errors.mutable_data()) : nullptr);
  if (options.error_map) write_error_map(*options.error_map, problem, errors);
  if (finding.verdict() == Verdict::outside) {
    const Heads heads = inputs.heads({.threads = options.threads});
    finding.faults = find_faults(judged_output(heads, output.actual, finding.arithmetic,
                                               finding.judgement, options.threads));
  }
  print(options.json
            ? document_text(check_json(output, finding, problem_json(inputs, problem, finding)))
            : check_text(output, finding, problem_text(inputs, problem, finding)));
  constexpr int kExitCodes[] = {0, 1, 2, 2};
  return kExitCodes[static_cast<int>(finding.verdict())];
}

}  // namespace sdpa
