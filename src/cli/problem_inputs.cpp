#include "cli/problem_inputs.h"

#include "attention/join.h"
#include "base/error.h"
#include "cli/mask_arguments.h"
#include "cli/streams.h"
#include "cli/unused_members.h"
#include "io/argument.h"
#include "io/array_file.h"
#include "report/non_finite.h"

#include <algorithm>
#include <iterator>

namespace sdpa {

namespace {

ProblemInputs read_case_file(const ProblemOptions& options, bool with_output) {
  const std::string& word = *options.case_file;
  const std::vector<std::string_view> names = case_member_names();
  const Case c = read_case(word, {names, with_output});
  const std::string place = place_of(word);
  if (with_output && !c.output)
    throw Error(place,
                "has no output that could be checked, as output, out, o or expected; there are " +
                    listed(c.unused));
  return problem_of_case(c, options, place);
}

}  // namespace

std::vector<std::string_view> case_member_names() {
  std::vector<std::string_view> names = mask_member_names();
  std::ranges::copy(scoring_member_names(), std::back_inserter(names));
  std::ranges::copy(layout_member_names(), std::back_inserter(names));
  return names;
}

ProblemInputs problem_of_case(const Case& c, const ProblemOptions& options,
                              const std::string& place) {
  warn_of_unused_members(c, place);
  const auto called = [&](const CaseMember& member) { return place + ": " + member.name; };
  ProblemInputs inputs{*c.q.array,
                       *c.k.array,
                       *c.v.array,
                       read_layout(options.layout, c.others, place),
                       {called(c.q), called(c.k), called(c.v)},
                       read_mask(options.mask, c.others, place),
                       read_scoring(options.scoring, c.others, place),
                       {}};
  const std::string& word = *options.case_file;
  inputs.files = {{word, inputs.names.q, inputs.q},
                  {word, inputs.names.k, inputs.k},
                  {word, inputs.names.v, inputs.v}};
  if (c.output) inputs.output = NamedArray{*c.output->array, called(*c.output)};
  return inputs;
}

ProblemInputs read_problem(const ProblemOptions& options, bool with_output) {
  if (options.case_file) return read_case_file(options, with_output);
  const Layout layout = read_layout(options.layout);
  std::vector<InputFile> files;
  const auto read = [&](const std::string& word) {
    const NamedArray file{read_array(word), place_of(word)};
    if (std::ranges::find(files, file.name, &InputFile::place) == files.end())
      files.push_back({word, file.name, file.array});
    return file;
  };
  const auto read_all = [&](const std::vector<std::string>& words) {
    std::vector<NamedArray> parts;
    for (const std::string& word : words) parts.push_back(read(word));
    return joined(parts, layout);
  };
  const NamedArray q = read(options.q), k = read_all(options.k), v = read_all(options.v);
  return {q.array,
          k.array,
          v.array,
          layout,
          {q.name, k.name, v.name},
          read_mask(options.mask),
          read_scoring(options.scoring),
          files};
}

namespace {

std::string counted(Index count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string heads_text(const Problem& p) {
  const Index H = p.q.heads(), G = p.k.heads(), G_v = p.v.heads();
  if (H == G && H == G_v) return counted(H, "head");
  return counted(H, "query head") + " over " + counted(G, "key head") +
         (G == G_v ? "" : " and " + counted(G_v, "value head"));
}

/// Whether the last three axes could be meant in the other order, which is as usual if T is not
/// below the number of heads there.
bool fits_other_order(const ProblemInputs& in, const Problem& problem) {
  if (problem.packing.is_packed() || in.layout.heads || problem.n.T_q > problem.q.heads())
    return false;
  Layout other = in.layout;
  other.order = other.order == AxisOrder::htd ? AxisOrder::thd : AxisOrder::htd;
  try {
    check_shapes(in.q, in.k, in.v, other, in.names);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string layout_text(const ProblemInputs& inputs, const Problem& problem) {
  if (inputs.q.shape().rank() == 2 && !inputs.layout.heads) return "";
  const bool is_thd = inputs.layout.order == AxisOrder::thd;
  std::string text =
      inputs.layout.heads ? "heads side by side" : "layout " + std::string(kAxisOrders[is_thd]);
  if (fits_other_order(inputs, problem))
    text += " (the shapes would fit " + std::string(kAxisOrders[!is_thd]) + " too)";
  text += ": ";
  if (!problem.q.batch().empty()) text += "batch " + std::to_string(problem.batch) + ", ";
  text += heads_text(problem) + ", ";
  if (problem.packing.is_packed()) return text + problem.packing.text();
  return text + "T_q " + std::to_string(problem.n.T_q) + ", T_k " + std::to_string(problem.n.T_k);
}

void warn_of_nan_inputs(const ProblemInputs& inputs) {
  for (const auto& [word, place, array] : inputs.files) {
    const NonFinite found = find_non_finite(array);
    if (found.nans == 0) continue;
    const bool type_is_said = parse_argument(word).dtype.has_value();
    complain("warning: " + std::to_string(found.nans) + " of " +
             std::to_string(array.shape().element_count()) + " numbers of " + place + " are NaN" +
             (type_is_said ? ": is TYPE " + std::string(name(array.dtype())) + " right?" : ""));
  }
}

}  // namespace sdpa
