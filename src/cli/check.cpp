#include "base/error.h"
#include "cli/commands.h"
#include "cli/problem_inputs.h"
#include "cli/progress.h"
#include "cli/report_text.h"
#include "cli/streams.h"
#include "io/argument.h"
#include "io/array_file.h"
#include "io/quote.h"
#include "report/judgement.h"
#include "report/number_type.h"
#include "report/wrong_kernels.h"

#include <algorithm>

namespace sdpa {

using nlohmann::ordered_json;

namespace {

struct Inputs {
  std::string place;  // of the output that is judged
  Array actual;       // in the type of its numbers
  Dtype file_type;
  ProblemInputs problem;
};

enum class Verdict { within, outside, no_judgement, nothing };

struct Finding {
  Arithmetic arithmetic;
  Index heads;
  Judgement judgement;
  WrongKernels wrong;
  std::vector<Index> vacuous_heads;  // whose bound zeros or the mean of v would pass

  std::vector<std::string> with_fate(WrongKernelFate fate) const {
    std::vector<std::string> names;
    for (const WrongKernel& kernel : wrong.kernels())
      if (kernel.fate == fate) names.emplace_back(kernel.name);
    return names;
  }

  Verdict verdict() const {
    if (judgement.outside != 0) return Verdict::outside;
    if (judgement.unbounded != 0) return Verdict::no_judgement;
    if (judgement.judged == 0) return Verdict::nothing;
    return vacuous_heads.empty() ? Verdict::within : Verdict::no_judgement;
  }
};

Inputs read_inputs(const CheckOptions& options) {
  const Array actual = read_array(options.actual);
  return {place_of(options.actual), actual, actual.dtype(), read_problem(options.problem)};
}

/// Throws Error if the array cannot be an output of these inputs.
void require_output(const Inputs& in, const Shape& shape) {
  if (!(in.actual.shape() == shape))
    throw Error(in.place, "shape " + in.actual.shape().text() +
                              ", but the output of these inputs has shape " + shape.text());
  if (!is_float(in.actual.dtype()))
    throw Error(in.place, std::string(name(in.actual.dtype())) + " is not a type of results");
}

/// The type of the output's numbers: narrower than that of its file if all numbers are and enough of
/// the exact results are not; that of the file if ACTUAL names one.
Dtype type_of_numbers(const CheckOptions& options, const Inputs& in) {
  const Dtype own = in.actual.dtype();
  if (parse_argument(options.actual).dtype) return own;
  const std::optional<Dtype> narrower = narrower_type(in.actual);
  if (!narrower) return own;
  Heads exact = in.problem.heads({.dtype = own, .threads = options.threads});
  constexpr Index kRowsAtOnce = 64, kMostRows = 1024;
  Index wider = 0;
  for (Index first = 0; first < std::min(exact.row_count(), kMostRows); first += kRowsAtOnce) {
    const Index rows = std::min(kRowsAtOnce, exact.row_count() - first);
    wider += count_wider(exact.rows(first, rows).output, *narrower);
    if (wider >= needed_evidence(*narrower)) return *narrower;
  }
  return own;
}

Arithmetic declared_arithmetic(const CheckOptions& options, const Inputs& in) {
  const Dtype output = in.actual.dtype();
  const Dtype accumulate =
      options.accumulate.value_or(output == Dtype::float64 ? Dtype::float64 : Dtype::float32);
  const Array& v = in.problem.v;
  // Hardware that multiplies matrices of a 16-bit type needs both of them in it. But that inputs
  // have it says nothing of a kernel whose output has another.
  const bool short_values =
      size_bytes(output) == 2 && (v.dtype() == output || narrower_type(v) == output);
  return {accumulate, options.weights_in.value_or(short_values ? output : accumulate), output};
}

/// Judges head by head, some rows at a time.
Finding find(const CheckOptions& options, const Inputs& in, const Problem& problem) {
  const Arithmetic arithmetic = declared_arithmetic(options, in);
  const auto exactly = [&](Dtype dtype) {
    return in.problem.heads({.dtype = dtype, .threads = options.threads});
  };
  Heads exact = exactly(type_of_exact_results(arithmetic.output));
  Heads rounded = exactly(arithmetic.output);
  Finding finding{arithmetic, problem.heads(), {.pattern = Pattern(in.actual.shape())}, {}, {}};
  Judge judge(in.actual.shape());
  const Index T_q = problem.n.T_q;
  Progress progress(options.progress, false, exact.row_count());
  for (Index head = 0; head < problem.heads(); ++head) {
    const Head operands = problem.head(head);
    const Array q = operands.q.array(), k = operands.k.array(), v = operands.v.array();
    const Array actual = in.actual.matrix(head);
    const KernelBound bound(q, k, v, arithmetic, options.threads);
    if (finding.wrong.try_on(q, k, v, bound.close_look(), arithmetic.output, options.threads))
      finding.vacuous_heads.push_back(head);
    for (Index first = 0; first < T_q; first += exact.rows_at_a_time()) {
      const Index count = std::min(exact.rows_at_a_time(), T_q - first);
      const RightValues right =
          right_values(exact.rows(head * T_q + first, count).output, arithmetic.output,
                       [&](Index row, Index rows) {
                         return rounded.rows(head * T_q + first + row, rows).output;
                       });
      judge.add_rows(actual.rows(first, count), right, bound.allowed(first, right.unrounded));
      progress.add(count);
    }
  }
  finding.judgement = judge.judgement();
  return finding;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& one : names) text += (text.empty() ? "" : ", ") + one;
  return text;
}

/// A value of a float type as an array of one element.
Array scalar(double value, Dtype dtype) {
  Array array(Shape{}, dtype);
  store_rounded(&value, 1, dtype, array.mutable_data());
  return array;
}

/// "head 1: " or "2 of 8 heads (1, 7): ", where there are several.
std::string vacuous_heads_text(const Finding& f) {
  if (f.heads == 1) return ": ";
  std::vector<std::string> some;
  constexpr std::size_t kMostListed = 8;
  for (Index head : f.vacuous_heads)
    if (some.size() < kMostListed) some.push_back(std::to_string(head));
  if (some.size() < f.vacuous_heads.size()) some.emplace_back("...");
  return " of " + std::to_string(f.vacuous_heads.size()) + " of " + std::to_string(f.heads) +
         " heads (" + joined(some) + "): ";
}

std::string verdict_text(const Finding& f) {
  const Judgement& j = f.judgement;
  const std::string count = " of " + std::to_string(j.count) + " values";
  switch (f.verdict()) {
    case Verdict::outside:
      return "outside the bound: " + std::to_string(j.outside) + count;
    case Verdict::nothing:
      if (j.count == 0) return "nothing to judge: the output is empty";
      return "nothing to judge: all " + std::to_string(j.count) + " values are NaN, and must be";
    case Verdict::no_judgement:
      if (j.unbounded != 0)
        return "no judgement: there is no bound for " + std::to_string(j.unbounded) + count;
      return "no judgement" + vacuous_heads_text(f) + "zeros or the mean of v would pass too";
    default:
      return "within the bound: all " + std::to_string(j.count) + " values";
  }
}

std::string worst_text(const Inputs& in, const Finding& f) {
  const Judgement& j = f.judgement;
  const Dtype dtype = f.arithmetic.output;
  return "  worst       " + measure_text(j.worst_multiple) + " times its bound at " +
         in.actual.shape().index_text(j.worst) + "\n              " +
         element_text(in.actual, j.worst) + ", right is " +
         element_text(scalar(j.worst_exact, dtype), 0) + "\n              " +
         ulps_text(j.worst_actual, j.worst_exact, dtype) + "; allowed are " +
         measure_text(j.worst_allowed) + " around the exact value\n";
}

std::string text(const Inputs& in, const Finding& f) {
  const Judgement& j = f.judgement;
  std::string text = verdict_text(f) + "\n  output      " + printable(in.place) + ", " +
                     std::string(name(in.file_type)) + " " + in.actual.shape().text() +
                     (in.file_type == f.arithmetic.output
                          ? ""
                          : ", all numbers of " + std::string(name(f.arithmetic.output))) +
                     "\n  arithmetic  sums in " + std::string(name(f.arithmetic.accumulate)) +
                     ", weights in " + std::string(name(f.arithmetic.weights)) + "\n";
  if (j.judged != 0 && j.worst >= 0) text += worst_text(in, f);
  if (j.count != 0)
    text +=
        "  exact       " + std::to_string(j.exactly_right) + " of " + std::to_string(j.count) +
        " values (" +
        measure_text(100 * static_cast<double>(j.exactly_right) / static_cast<double>(j.count)) +
        " %) are the right ones\n";
  if (j.outside != 0) text += "  pattern     " + j.pattern.text() + "\n";
  if (j.actual_nans + j.exact_nans != 0)
    text += "  NaN         " + std::to_string(j.actual_nans) + " in " + printable(in.place) + ", " +
            std::to_string(j.exact_nans) + " in the right output\n";
  const std::vector<std::string> rejected = f.with_fate(WrongKernelFate::rejected);
  const std::vector<std::string> accepted = f.with_fate(WrongKernelFate::accepted);
  if (!rejected.empty()) text += "  also rejects " + joined(rejected) + "\n";
  if (!accepted.empty())
    text += "  cannot tell  " + joined(accepted) + " (tried on " + std::to_string(f.wrong.rows()) +
            " rows)\n";
  return text;
}

ordered_json worst_json(const Inputs& in, const Finding& f) {
  const Judgement& j = f.judgement;
  if (j.judged == 0 || j.worst < 0) return nullptr;
  const Dtype dtype = f.arithmetic.output;
  return {{"times_bound", number_json(j.worst_multiple)},
          {"index", index_json(in.actual.shape(), j.worst)},
          {"actual", element_json(in.actual, j.worst)},
          {"exact", element_json(scalar(j.worst_exact, dtype), 0)},
          {"ulp", ulps_json(j.worst_actual, j.worst_exact, dtype)},
          {"bound", number_json(j.worst_allowed)}};
}

ordered_json json(const Inputs& in, const Finding& f) {
  constexpr const char* kVerdicts[] = {"within", "outside", "no judgement", "nothing to judge"};
  const Judgement& j = f.judgement;
  ordered_json output = array_json(in.place, in.actual);
  output["type"] = name(in.file_type);
  ordered_json document = {{"verdict", kVerdicts[static_cast<int>(f.verdict())]},
                           {"output", output},
                           {"numbers", name(f.arithmetic.output)},
                           {"accumulate", name(f.arithmetic.accumulate)},
                           {"weights_in", name(f.arithmetic.weights)},
                           {"count", j.count},
                           {"outside", j.outside},
                           {"unbounded", j.unbounded},
                           {"exactly_right", j.exactly_right},
                           {"actual_nan", j.actual_nans},
                           {"exact_nan", j.exact_nans},
                           {"worst", worst_json(in, f)},
                           {"pattern", j.pattern.text()}};
  document["heads_not_judged"] = f.vacuous_heads;
  document["also_rejects"] = f.with_fate(WrongKernelFate::rejected);
  document["cannot_tell"] = f.with_fate(WrongKernelFate::accepted);
  document["tried_rows"] = f.wrong.rows();
  return document;
}

}  // namespace

int run(const CheckOptions& options) {
  Inputs in = read_inputs(options);
  const ProblemInputs& p = in.problem;
  const Problem problem = check_shapes(p.q, p.k, p.v, p.layout, p.names);
  require_output(in, problem.output_shape());
  in.actual = problem.in_order(in.actual);  // as places are reported
  if (const Dtype type = type_of_numbers(options, in); type != in.actual.dtype())
    in.actual = narrowed(in.actual, type);
  const Finding finding = find(options, in, problem);
  print(options.json ? document_text(json(in, finding)) : text(in, finding));
  constexpr int kExitCodes[] = {0, 1, 2, 2};
  return kExitCodes[static_cast<int>(finding.verdict())];
}

}  // namespace sdpa
