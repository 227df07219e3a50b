#include "cli/option_values.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/quote.h"

#include <optional>

namespace sdpa {

namespace {

/// More threads than any machine has processors; a number above it is a slip of the finger.
constexpr long long kMostThreads = 4096;

}  // namespace

Dtype float_type_from(const Given& given) {
  const std::optional<Dtype> dtype = parse_dtype(given.word);
  if (!dtype || !is_float(*dtype))
    throw UsageError(given.name,
                     in_quotes(given.word) + " is not float16, bfloat16, float32 or float64");
  return *dtype;
}

int threads_from(const Given& given) {
  const std::optional<long long> threads = parse_integer(given.word);
  if (!threads) throw UsageError(given.name, in_quotes(given.word) + " is not a number");
  if (*threads < 1 || *threads > kMostThreads)
    throw UsageError(given.name, in_quotes(given.word) + " is not between 1 and " +
                                     std::to_string(kMostThreads));
  return static_cast<int>(*threads);
}

double size_from(const Given& given) {
  const std::optional<double> size = parse_double(given.word);
  if (!size) throw UsageError(given.name, in_quotes(given.word) + " is not a number");
  if (!(*size >= 0) || *size - *size != 0)
    throw UsageError(given.name, in_quotes(given.word) + " is not a size: 0 or more, finite");
  return *size;
}

std::uint64_t steps_from(const Given& given) {
  const std::optional<long long> steps = parse_integer(given.word);
  if (!steps || *steps < 0)
    throw UsageError(given.name, in_quotes(given.word) + " is not a count: 0, 1, 2, ...");
  return static_cast<std::uint64_t>(*steps);
}

}  // namespace sdpa
