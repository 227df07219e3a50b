#include "oracle/property.h"

#include "attention/heads.h"
#include "attention/masked_attention.h"
#include "oracle/generators.h"
#include "oracle/masks.h"
#include "oracle/matrix.h"
#include "oracle/mpfr.h"
#include "oracle/scorings.h"

#include <cstdio>
#include <stdexcept>

namespace sdpa::oracle {

namespace {

std::string described(const char* what, const Array& array) {
  return std::string(", ") + what + " " + array.shape().text() + " " +
         std::string(name(array.dtype()));
}

std::optional<std::string> first_difference(const char* what, const Array& got,
                                            const Array& expected) {
  if (same_bytes(got, expected)) return std::nullopt;
  if (got.shape() != expected.shape() || got.dtype() != expected.dtype())
    return "the " + std::string(what) + " have another type or shape" + described("got", got);
  const auto width = static_cast<std::size_t>(size_bytes(got.dtype()));
  std::size_t byte = 0;
  while (got.bytes()[byte] == expected.bytes()[byte]) ++byte;
  const auto position = static_cast<Index>(byte / width);
  char values[100];
  std::snprintf(values, sizeof values, " is %a, expected %a", got.at(position),
                expected.at(position));
  return what + got.shape().index_text(position) + values;
}

Settings settings_of(const Problem& problem, std::uint64_t seed) {
  Settings settings;
  settings.dtype = problem.dtype;
  settings.threads = static_cast<int>(1 + seed / 6 % 3);
  settings.weights = seed / 18 % 4 != 0;
  return settings;
}

std::optional<std::string> first_difference(const Problem& problem, std::uint64_t seed,
                                            const Attention& got, const Attention& expected) {
  std::optional<std::string> difference = first_difference("output", got.output, expected.output);
  if (!difference && got.weights)
    difference = first_difference("weights", *got.weights, *expected.weights);
  if (difference)
    difference = "seed " + std::to_string(seed) + ", " + problem.generator +
                 described("q", problem.q) + described("k", problem.k) + described("v", problem.v) +
                 ": " + *difference;
  return difference;
}

}  // namespace

std::optional<std::string> difference_of(std::uint64_t seed) {
  const Problem problem = random_problem(seed);
  return first_difference(problem, seed,
                          attention(problem.q, problem.k, problem.v, settings_of(problem, seed)),
                          exact_attention(problem.q, problem.k, problem.v, problem.dtype));
}

std::optional<std::string> masked_difference_of(std::uint64_t seed) {
  const Problem problem = random_problem(seed);
  const MaskOptions mask = random_mask(seed, problem.q.shape()[0], problem.k.shape()[0]);
  std::optional<std::string> difference = first_difference(
      problem, seed,
      masked_attention(problem.q, problem.k, problem.v, mask, settings_of(problem, seed)),
      exact_attention(problem.q, problem.k, problem.v, problem.dtype,
                      seen_by(mask, problem.q.shape()[0], problem.k.shape()[0])));
  if (difference) *difference += ", " + described(mask);
  return difference;
}

std::optional<std::string> scored_difference_of(std::uint64_t seed) {
  const Problem problem = random_problem(seed);
  const Index T_q = problem.q.shape()[0], T_k = problem.k.shape()[0];
  const MaskOptions mask = seed % 2 == 0 ? random_mask(seed, T_q, T_k) : MaskOptions();
  const ScoringOptions scoring = random_scoring(seed);
  Heads heads(problem.q, problem.k, problem.v, settings_of(problem, seed), {}, {}, mask, scoring);
  try {
    const Attention expected = exact_attention(problem.q, problem.k, problem.v, problem.dtype,
                                               seen_by(mask, T_q, T_k), scoring_of(scoring));
    std::optional<std::string> difference =
        first_difference(problem, seed, heads.rows(0, heads.row_count()), expected);
    if (difference) *difference += ", " + described(mask) + ", " + scoring.text();
    return difference;
  } catch (const std::runtime_error& error) {  // of either
    if (scoring.softcap && std::string(error.what()).find("undecided") != std::string::npos)
      return std::nullopt;
    throw;
  }
}

}  // namespace sdpa::oracle
