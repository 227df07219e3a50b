#include "cli/option_values.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/quote.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace sdpa {

namespace {

/// More threads than any machine has processors; a number above it is a slip of the finger.
constexpr long long kMostThreads = 4096;

}  // namespace

Dtype float_type_from(const Given& given) {
  const std::optional<Dtype> dtype = parse_dtype(given.word);
  if (!dtype || !is_float(*dtype))
    throw Error(given.name, in_quotes(given.word) +
                                " is not float16, bfloat16, float32, float64, float8_e4m3fn or "
                                "float8_e5m2");
  return *dtype;
}

int threads_from(const Given& given) {
  const std::optional<long long> threads = parse_integer(given.word);
  if (!threads || *threads < 1 || *threads > kMostThreads)
    throw Error(given.name, in_quotes(given.word) + " is not a whole number from 1 to " +
                                std::to_string(kMostThreads));
  return static_cast<int>(*threads);
}

Index heads_from(const Given& given) {
  const std::optional<long long> heads = parse_integer(given.word);
  if (!heads || *heads < 1)
    throw Error(given.name, in_quotes(given.word) + " is not a number of heads: 1, 2, ...");
  return static_cast<Index>(*heads);
}

double number_from(const Given& given) {
  const char* end = given.word.data() + given.word.size();
  double number = 0;
  const auto [rest, error] = std::from_chars(given.word.data(), end, number);
  if (rest == end && error == std::errc::result_out_of_range)
    throw Error(given.name,
                in_quotes(given.word) + " is outside what float64 holds, 4.9e-324 to 1.8e+308");
  if (rest != end || error != std::errc()) {
    std::string what = " is not a decimal number, as 0.001 or 1e-3";
    if (given.word.starts_with('+')) what += ", without a '+'";
    if (given.word.find_first_of(" \t\n") != given.word.npos) what += ", without blanks";
    throw Error(given.name, in_quotes(given.word) + what);
  }
  if (!(number - number == 0)) throw Error(given.name, in_quotes(given.word) + " is not finite");
  return number;
}

double size_from(const Given& given) {
  const double size = number_from(given);
  if (size < 0) throw Error(given.name, in_quotes(given.word) + " is less than 0");
  return size;
}

Shape shape_from(const Given& given) {
  std::vector<Index> extents;
  std::string_view rest = given.word;
  for (bool more = true; more;) {
    const std::size_t end = rest.find('x');
    const std::optional<long long> extent = parse_integer(rest.substr(0, end));
    if (!extent || *extent < 0)
      throw Error(given.name, in_quotes(given.word) + " is not extents joined by x, as 8x12");
    extents.push_back(static_cast<Index>(*extent));
    more = end != rest.npos;
    if (more) rest.remove_prefix(end + 1);
  }
  if (extents.size() < 2)
    throw Error(given.name, in_quotes(given.word) + " is one extent, T_q and T_k are two, as 8x12");
  try {
    return Shape(std::move(extents));
  } catch (const Error& error) {
    throw Error(given.name, error.what());
  }
}

std::uint64_t steps_from(const Given& given) {
  const char* end = given.word.data() + given.word.size();
  std::uint64_t steps = 0;
  const auto [rest, error] = std::from_chars(given.word.data(), end, steps);
  if (rest == end && error == std::errc::result_out_of_range)
    throw Error(given.name, in_quotes(given.word) + " is more than any distance");
  if (rest != end || error != std::errc())
    throw Error(given.name, in_quotes(given.word) + " is not a count: 0, 1, 2, ...");
  return steps;
}

}  // namespace sdpa
