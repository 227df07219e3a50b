#include "base/error.h"
#include "cli/commands.h"
#include "cli/problem_inputs.h"
#include "cli/streams.h"
#include "io/json.h"
#include "io/json_writer.h"
#include "io/line_reader.h"
#include "io/output_file.h"
#include "io/output_place.h"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

namespace sdpa {

namespace {

Array output_of(Heads heads, const std::string& place) {
  const Problem& problem = heads.problem();
  Array output(problem.output_shape(), heads.dtype());
  const Index slab = heads.rows_at_a_time();
  for (Index first = 0; first < heads.row_count(); first += slab) {
    const Index count = std::min(slab, heads.row_count() - first);
    problem.place_rows(heads.rows(first, count).output, first, output);
  }
  if (const std::string warning = heads.mask().warning(); !warning.empty())
    complain("warning: " + place + ": " + warning);
  if (const Index empty = heads.mask_counts().empty_rows; empty != 0)
    complain("warning: " + place + ": " + std::to_string(empty) + " of " +
             std::to_string(heads.row_count()) + " rows see no key");
  return output;
}

std::string answer(std::string_view line, const std::string& place, const LinesOptions& options) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(line));
  if (!is_json_object(bytes)) throw Error(place, "is not an object of q, k and v");
  const std::vector<std::string_view> names = case_member_names();
  const Case found = case_from(*open_json(bytes, place), {names}, place);
  const ProblemInputs inputs = problem_of_case(found, options.problem, place);
  return one_line_json(output_of(inputs.heads(options.settings), place), place);
}

std::string error_line(const std::string& message) {
  const nlohmann::json object = {{"error", message}};
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Only names that say so, or streams: the forms of arrays are others.
void require_name_of_lines(const std::string& path) {
  if (!path.ends_with(".jsonl") && !output_place(path).is_stream())
    throw Error(output_name(path), "the name of an output of --lines ends in .jsonl");
}

}  // namespace

int run(const LinesOptions& options) {
  require_name_of_lines(options.output);
  LineReader lines(*options.problem.case_file);
  OutputFile output(options.output);
  bool is_good = true;
  for (long long number = 1;; ++number) {
    if (!lines.has_line()) output.flush();  // before waiting for more
    const std::optional<std::string_view> line = lines.next();
    if (!line) break;
    std::string result;
    const std::string place = lines.place() + ", line " + std::to_string(number);
    try {
      result = answer(*line, place, options);
    } catch (const Error& error) {
      result = error_line(error.what());
      is_good = false;
    } catch (const std::bad_alloc&) {
      result = error_line(place + ": no memory for it");
      is_good = false;
    }
    output.write(result + "\n");
  }
  output.commit();
  return is_good ? 0 : 2;
}

}  // namespace sdpa
