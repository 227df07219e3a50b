#include "cli/check_text.h"

#include "cli/fault_text.h"
#include "cli/report_text.h"
#include "io/quote.h"

namespace sdpa {

using nlohmann::ordered_json;

namespace {

std::string joined(const std::vector<std::string>& names, const char* between = ", ") {
  std::string text;
  for (const std::string& one : names) text += (text.empty() ? "" : between) + one;
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
      if (f.vacuous_heads.empty())
        return "no judgement: --strict, and these data do not show a kernel " +
               joined(f.needed_but_not_told(), ", or ");
      return "no judgement" + vacuous_heads_text(f) + "zeros or the mean of v would pass too";
    default:
      return "within the bound: all " + std::to_string(j.count) + " values";
  }
}

std::string worst_text(const CheckedOutput& in, const Finding& f) {
  const Judgement& j = f.judgement;
  const Dtype dtype = f.arithmetic.output;
  return "  worst       " + measure_text(j.worst_multiple) + " times its bound at " +
         in.actual.shape().index_text(j.worst) + "\n              " +
         element_text(in.actual, j.worst) + ", right is " +
         element_text(scalar(j.worst_exact, dtype), 0) + "\n              " +
         ulps_text(j.worst_actual, j.worst_exact, dtype) + "; allowed are " +
         measure_text(j.worst_allowed) + " around the exact value\n";
}

ordered_json arithmetic_json(const Arithmetic& a) {
  return {{"sums", name(a.sums)},
          {"weights", name(a.weights)},
          {"scores", name(a.scores.value_or(a.sums))},
          {"products",
           a.products == Products::whole ? std::string(name(a.sums)) : products_text(a.products)},
          {"exp", a.exp},
          {"step", a.step}};
}

ordered_json worst_json(const CheckedOutput& in, const Finding& f) {
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

}  // namespace

std::string check_text(const CheckedOutput& in, const Finding& f, const std::string& problem) {
  const Judgement& j = f.judgement;
  std::string text = verdict_text(f) + "\n" + problem + "  output      " + printable(in.place) +
                     ", " + std::string(name(in.file_type)) + " " + in.actual.shape().text() +
                     (in.file_type == f.arithmetic.output
                          ? ""
                          : ", all numbers of " + std::string(name(f.arithmetic.output))) +
                     "\n  arithmetic  " + f.arithmetic.text() + "\n";
  if (!f.within_under.empty())
    text += "              it is within under " + joined(f.within_under, " or ") + "\n";
  if (j.judged != 0 && j.worst >= 0) text += worst_text(in, f);
  if (j.count != 0)
    text +=
        "  exact       " + std::to_string(j.exactly_right) + " of " + std::to_string(j.count) +
        " values (" +
        measure_text(100 * static_cast<double>(j.exactly_right) / static_cast<double>(j.count)) +
        " %) are the right ones\n";
  if (j.outside != 0) text += "  pattern     " + j.pattern.text() + "\n";
  const char* label = "  map         ";
  if (j.outside > 1)
    for (const std::string& line : j.map.lines()) {
      text += label + line + "\n";
      label = "              ";
    }
  if (f.faults && !(f.faults->resembles.empty() && !f.within_under.empty()))
    text += fault_text(*f.faults);
  if (j.actual_nans + j.exact_nans != 0)
    text += "  NaN         " + std::to_string(j.actual_nans) + " in " + printable(in.place) + ", " +
            std::to_string(j.exact_nans) + " in the right output\n";
  const std::vector<std::string> rejected = f.rejected();
  if (!rejected.empty()) text += "  also rejects " + joined(rejected) + "\n";
  std::vector<std::string> not_told;
  for (const WrongKernel& kernel : f.not_told())
    not_told.push_back(std::string(kernel.name) + " (" + kernel.reason + ")");
  if (!not_told.empty() && f.verdict() != Verdict::nothing)
    text += "  cannot tell  " + joined(not_told) + "; tried on " + std::to_string(f.wrong.rows()) +
            (f.wrong.rows() == 1 ? " row\n" : " rows\n");
  return text;
}

ordered_json check_json(const CheckedOutput& in, const Finding& f, const ordered_json& problem) {
  constexpr const char* kVerdicts[] = {"within", "outside", "no judgement", "nothing to judge"};
  const Judgement& j = f.judgement;
  ordered_json output = array_json(in.place, in.actual);
  output["type"] = name(in.file_type);
  ordered_json document = {{"verdict", kVerdicts[static_cast<int>(f.verdict())]},
                           {"output", output},
                           {"numbers", name(f.arithmetic.output)},
                           {"problem", problem},
                           {"arithmetic", arithmetic_json(f.arithmetic)},
                           {"count", j.count},
                           {"outside", j.outside},
                           {"unbounded", j.unbounded},
                           {"exactly_right", j.exactly_right},
                           {"actual_nan", j.actual_nans},
                           {"exact_nan", j.exact_nans},
                           {"worst", worst_json(in, f)},
                           {"pattern", j.pattern.text()}};
  document["strict"] = f.strict;
  document["within_under"] = f.within_under;
  document["resembles"] = f.faults ? fault_json(*f.faults) : ordered_json::array();
  document["heads_not_judged"] = f.vacuous_heads;
  document["also_rejects"] = f.rejected();
  ordered_json names = ordered_json::array(), reasons = ordered_json::object();
  for (const WrongKernel& kernel : f.not_told()) {
    names.push_back(kernel.name);
    reasons[std::string(kernel.name)] = kernel.reason;
  }
  document["cannot_tell"] = names;
  document["reasons"] = reasons;
  document["tried_rows"] = f.wrong.rows();
  return document;
}

}  // namespace sdpa
