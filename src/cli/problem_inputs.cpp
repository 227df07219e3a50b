#include "cli/problem_inputs.h"

#include "attention/join.h"
#include "cli/mask_arguments.h"
#include "cli/streams.h"
#include "io/argument.h"
#include "io/array_file.h"
#include "report/non_finite.h"

#include <algorithm>

namespace sdpa {

namespace {

ProblemInputs read_case_file(const ProblemOptions& options) {
  const std::string& word = *options.case_file;
  const Case c = read_case(word, mask_member_names());
  const std::string place = place_of(word);
  ProblemInputs inputs{c.q,
                       c.k,
                       c.v,
                       options.layout(),
                       {place + ": q", place + ": k", place + ": v"},
                       read_mask(options.mask, c.others, place),
                       {}};
  inputs.files = {
      {word, inputs.names.q, c.q}, {word, inputs.names.k, c.k}, {word, inputs.names.v, c.v}};
  return inputs;
}

}  // namespace

ProblemInputs read_problem(const ProblemOptions& options) {
  if (options.case_file) return read_case_file(options);
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
    return joined(parts, options.layout());
  };
  const NamedArray q = read(options.q), k = read_all(options.k), v = read_all(options.v);
  return {q.array,
          k.array,
          v.array,
          options.layout(),
          {q.name, k.name, v.name},
          read_mask(options.mask),
          files};
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
