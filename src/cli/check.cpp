#include "attention/attention.h"
#include "attention/problem.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/report_text.h"
#include "cli/streams.h"
#include "io/array_file.h"
#include "io/quote.h"
#include "report/judgement.h"
#include "report/wrong_kernels.h"

#include <algorithm>

namespace sdpa {

using nlohmann::ordered_json;

namespace {

struct Inputs {
  std::string place;  // of the output that is judged
  Array actual, q, k, v;
  OperandNames names;
};

enum class Verdict { within, outside, no_judgement };

struct Finding {
  Arithmetic arithmetic;
  Judgement judgement;
  WrongKernels wrong;

  std::vector<std::string> with_fate(WrongKernelFate fate) const {
    std::vector<std::string> names;
    for (const WrongKernel& kernel : wrong.kernels())
      if (kernel.fate == fate) names.emplace_back(kernel.name);
    return names;
  }

  /// A bound that zeros would pass judges nothing.
  bool zeros_pass() const {
    return std::ranges::any_of(wrong.kernels(), [](const WrongKernel& kernel) {
      return kernel.name == "zeros" && kernel.fate == WrongKernelFate::accepted;
    });
  }

  Verdict verdict() const {
    if (judgement.outside != 0) return Verdict::outside;
    return judgement.unbounded != 0 || zeros_pass() ? Verdict::no_judgement : Verdict::within;
  }
};

Inputs read_inputs(const CheckOptions& options) {
  return {place_of(options.actual),
          read_array(options.actual),
          read_array(options.problem.q),
          read_array(options.problem.k),
          read_array(options.problem.v),
          {place_of(options.problem.q), place_of(options.problem.k), place_of(options.problem.v)}};
}

/// Throws Error if the array cannot be an output of these inputs.
void require_output(const Inputs& in, const Shape& shape) {
  if (!(in.actual.shape() == shape))
    throw Error(in.place, "shape " + in.actual.shape().text() +
                              ", but the output of these inputs has shape " + shape.text());
  if (!is_float(in.actual.dtype()))
    throw Error(in.place, std::string(name(in.actual.dtype())) + " is not a type of results");
}

Arithmetic declared_arithmetic(const CheckOptions& options, const Inputs& in) {
  const Dtype output = in.actual.dtype();
  const Dtype accumulate =
      options.accumulate.value_or(output == Dtype::float64 ? Dtype::float64 : Dtype::float32);
  // Hardware that multiplies matrices of a 16-bit type needs both of them in it.
  const bool short_values = is_float(in.v.dtype()) && size_bytes(in.v.dtype()) == 2;
  const Dtype weights = options.weights_in.value_or(short_values ? in.v.dtype() : accumulate);
  return {accumulate, weights, output};
}

Finding find(const CheckOptions& options, const Inputs& in, const Problem& problem) {
  const Arithmetic arithmetic = declared_arithmetic(options, in);
  const Settings exactly{.dtype = arithmetic.output, .threads = options.threads};
  Judge judge(in.actual.shape());
  WrongKernels wrong;
  for (Index head = 0; head < problem.heads(); ++head) {
    const Head operands = problem.head(head);
    const Array q = operands.q.array(), k = operands.k.array(), v = operands.v.array();
    const KernelBounds bounds = kernel_bounds(q, k, v, arithmetic, options.threads);
    judge.add_head(in.actual.matrix(head), attention(q, k, v, exactly).output, bounds);
    wrong.try_on(q, k, v, bounds, arithmetic.output);
  }
  return {arithmetic, judge.judgement(), wrong};
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

std::string verdict_text(const Finding& f) {
  const Judgement& j = f.judgement;
  const std::string count = " of " + std::to_string(j.count) + " values";
  switch (f.verdict()) {
    case Verdict::outside:
      return "outside the bound: " + std::to_string(j.outside) + count;
    case Verdict::no_judgement:
      if (j.unbounded != 0)
        return "no judgement: there is no bound for " + std::to_string(j.unbounded) + count;
      return "no judgement: zeros would pass too";
    default:
      if (j.count == 0) return "within the bound: the output is empty";
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
         ulps_text(j.worst_actual, j.worst_exact, dtype) + " apart; allowed are " +
         measure_text(j.worst_allowed) + " around the value before rounding\n";
}

std::string text(const Inputs& in, const Finding& f) {
  const Judgement& j = f.judgement;
  std::string text = verdict_text(f) + "\n  output      " + printable(in.place) + ", " +
                     std::string(name(f.arithmetic.output)) + " " + in.actual.shape().text() +
                     "\n  arithmetic  sums in " + std::string(name(f.arithmetic.accumulate)) +
                     ", weights in " + std::string(name(f.arithmetic.weights)) + "\n";
  if (j.worst >= 0) text += worst_text(in, f);
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
  if (!rejected.empty()) text += "  would fail  " + joined(rejected) + "\n";
  if (!accepted.empty())
    text += "  too weak    the bound cannot tell these wrong results: " + joined(accepted) + "\n";
  return text;
}

ordered_json worst_json(const Inputs& in, const Finding& f) {
  const Judgement& j = f.judgement;
  if (j.worst < 0) return nullptr;
  const Dtype dtype = f.arithmetic.output;
  return {{"times_bound", number_json(j.worst_multiple)},
          {"index", index_json(in.actual.shape(), j.worst)},
          {"actual", element_json(in.actual, j.worst)},
          {"exact", element_json(scalar(j.worst_exact, dtype), 0)},
          {"ulp", ulps_json(j.worst_actual, j.worst_exact, dtype)},
          {"bound", number_json(j.worst_allowed)}};
}

ordered_json json(const Inputs& in, const Finding& f) {
  constexpr const char* kVerdicts[] = {"within", "outside", "no judgement"};
  const Judgement& j = f.judgement;
  ordered_json document = {{"verdict", kVerdicts[static_cast<int>(f.verdict())]},
                           {"output", array_json(in.place, in.actual)},
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
  document["would_fail"] = f.with_fate(WrongKernelFate::rejected);
  document["too_weak_for"] = f.with_fate(WrongKernelFate::accepted);
  return document;
}

}  // namespace

int run(const CheckOptions& options) {
  Inputs in = read_inputs(options);
  const Problem problem = check_shapes(in.q, in.k, in.v, options.problem.layout(), in.names);
  require_output(in, problem.output_shape());
  in.actual = problem.in_order(in.actual);  // as places are reported
  const Finding finding = find(options, in, problem);
  print(options.json ? document_text(json(in, finding)) : text(in, finding));
  constexpr int kExitCodes[] = {0, 1, 2};
  return kExitCodes[static_cast<int>(finding.verdict())];
}

}  // namespace sdpa
