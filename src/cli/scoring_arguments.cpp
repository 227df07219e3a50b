#include "cli/scoring_arguments.h"

#include "base/error.h"
#include "base/numbers.h"
#include "cli/case_members.h"
#include "io/array_file.h"
#include "io/quote.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace sdpa {

namespace {

/// The nearest Number to the whole word; nothing if it is not a decimal number.
template <class Number>
std::optional<double> nearest(std::string_view name, std::string_view word,
                              std::string_view digits) {
  Number number = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (rest == end && error == std::errc::result_out_of_range)
    throw Error(name, in_quotes(word) + " is outside what " +
                          (sizeof(Number) == sizeof(float) ? "float32" : "float64") + " holds");
  if (rest != end || error != std::errc()) return std::nullopt;
  return static_cast<double>(number);
}

/// A decimal number, perhaps with `f` behind it; nothing if the word is something else.
std::optional<double> decimal(std::string_view name, std::string_view word) {
  const bool is_float = word.ends_with('f') && !word.ends_with("inf");
  return is_float ? nearest<float>(name, word, word.substr(0, word.size() - 1))
                  : nearest<double>(name, word, word);
}

void require_finite(std::string_view name, std::string_view word, double number) {
  if (!std::isfinite(number)) throw Error(name, in_quotes(word) + " is not finite");
}

NamedArray one_sink(const char* name, double sink) {
  Array array(Shape(std::vector<Index>{}), Dtype::float64);
  std::memcpy(array.mutable_data(), &sink, sizeof sink);
  return {array, name};
}

NamedArray read_sinks(const std::string& word) {
  if (const std::optional<double> sink = decimal("--sinks", word))
    return one_sink("--sinks", *sink);
  return {read_array(word), place_of(word)};
}

}  // namespace

ScoreScale scale_from(std::string_view name, std::string_view word) {
  constexpr std::string_view kBegin = "1/sqrt(";
  constexpr long long kLargestRoot = 1LL << 53;
  if (word.starts_with(kBegin) && word.ends_with(')')) {
    const std::optional<long long> root =
        parse_integer(word.substr(kBegin.size(), word.size() - kBegin.size() - 1));
    if (!root || *root < 1 || *root > kLargestRoot)
      throw Error(name, in_quotes(word) + " is not 1/sqrt(N) with a whole number N from 1 to 2^53");
    return {1, static_cast<Index>(*root)};
  }
  const std::optional<double> number = decimal(name, word);
  if (!number)
    throw Error(name, in_quotes(word) + " is not a number, as 0.125 or 0.1f, or 1/sqrt(N)");
  require_finite(name, word, *number);
  return {*number, 1};
}

double softcap_from(std::string_view name, std::string_view word) {
  const std::optional<double> cap = decimal(name, word);
  if (!cap) throw Error(name, in_quotes(word) + " is not a number, as 50 or 0.1f");
  require_finite(name, word, *cap);
  if (!(*cap > 0)) throw Error(name, in_quotes(word) + " is not above 0");
  return *cap;
}

ScoringOptions read_scoring(const ScoringArguments& a, const std::vector<CaseMember>& members,
                            std::string_view place) {
  ScoringOptions scoring{a.scale, a.softcap, std::nullopt};
  if (a.sinks) scoring.sinks = read_sinks(*a.sinks);

  const CaseMembers all(members, place);
  all.take("scale", a.scale.has_value(), [&](const CaseMember& m, const std::string& name) {
    scoring.scale = scale_from(name, CaseMembers::text_of(m, name));
  });
  all.take("softcap", a.softcap.has_value(), [&](const CaseMember& m, const std::string& name) {
    scoring.softcap = softcap_from(name, CaseMembers::text_of(m, name));
  });
  all.take("sinks", a.sinks.has_value(), [&](const CaseMember& m, const std::string& name) {
    scoring.sinks = CaseMembers::array_of(m, name);
  });
  return scoring;
}

std::vector<std::string_view> scoring_member_names() {
  return {"scale", "softcap", "sinks"};
}

}  // namespace sdpa
