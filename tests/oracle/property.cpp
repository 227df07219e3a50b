#include "oracle/property.h"

#include "oracle/generators.h"
#include "oracle/matrix.h"
#include "oracle/mpfr.h"

#include <cstdio>

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

}  // namespace

std::optional<std::string> difference_of(std::uint64_t seed) {
  const Problem problem = random_problem(seed);
  Settings settings;
  settings.dtype = problem.dtype;
  settings.threads = static_cast<int>(1 + seed / 6 % 3);
  settings.weights = seed / 18 % 4 != 0;
  const Attention got = attention(problem.q, problem.k, problem.v, settings);
  const Attention expected = exact_attention(problem.q, problem.k, problem.v, problem.dtype);

  std::optional<std::string> difference = first_difference("output", got.output, expected.output);
  if (!difference && settings.weights)
    difference = first_difference("weights", *got.weights, *expected.weights);
  if (difference)
    difference = "seed " + std::to_string(seed) + ", " + problem.generator +
                 described("q", problem.q) + described("k", problem.k) + described("v", problem.v) +
                 ": " + *difference;
  return difference;
}

}  // namespace sdpa::oracle
