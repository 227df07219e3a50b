#include "cli/arithmetic_option.h"

#include "base/error.h"
#include "base/numbers.h"
#include "io/quote.h"

#include <cmath>
#include <vector>

namespace sdpa {

namespace {

Dtype type_from(const std::string& name, std::string_view value) {
  const std::optional<Dtype> dtype = parse_dtype(value);
  if (!dtype || !is_float(*dtype) || size_bytes(*dtype) == 1)
    throw Error(name, in_quotes(value) + " is not float16, bfloat16, float32 or float64");
  return *dtype;
}

Products products_from(const std::string& name, std::string_view value) {
  if (value == "tf32") return Products::tf32;
  const std::optional<Dtype> dtype = parse_dtype(value);
  if (dtype == Dtype::bfloat16) return Products::bfloat16;
  if (dtype == Dtype::float16) return Products::float16;
  if (dtype == Dtype::float32 || dtype == Dtype::float64) return Products::whole;
  throw Error(name, in_quotes(value) + " is not tf32, bfloat16, float16, float32 or float64");
}

/// "1e-3", or a power of two as "2^-11".
double size_from(const std::string& name, std::string_view value) {
  std::optional<double> size;
  if (value.starts_with("2^")) {
    const std::optional<long long> exponent = parse_integer(value.substr(2));
    if (exponent && *exponent >= -1000 && *exponent <= 1000)
      size = std::ldexp(1.0, static_cast<int>(*exponent));
  } else {
    size = parse_double(value);
  }
  if (!size || !(*size > 0) || std::isinf(*size))
    throw Error(name, in_quotes(value) + " is not a size above 0, as 1e-3 or 2^-11");
  return *size;
}

}  // namespace

Arithmetic DeclaredArithmetic::of(Dtype output, bool short_values) const {
  Arithmetic all{sums.value_or(output == Dtype::float64 ? Dtype::float64 : Dtype::float32), output,
                 output};
  all.weights = weights.value_or(short_values ? output : all.sums);
  if (scores && *scores != all.sums) all.scores = scores;
  all.products = products.value_or(Products::whole);
  all.exp = exp;
  all.step = step;
  return all;
}

DeclaredArithmetic arithmetic_from(const std::string& name, std::string_view word) {
  DeclaredArithmetic all;
  std::vector<std::string_view> seen;
  for (bool more = true; more;) {
    const std::size_t comma = word.find(',');
    const std::string_view part = word.substr(0, comma);
    more = comma != word.npos;
    if (more) word.remove_prefix(comma + 1);
    const std::size_t equals = part.find('=');
    const std::string_view what = part.substr(0, equals);
    const std::string_view value = equals == part.npos ? "" : part.substr(equals + 1);
    const std::string place = name + ": " + std::string(what);
    for (const std::string_view other : seen)
      if (other == what) throw Error(place, "given twice");
    seen.push_back(what);
    if (what == "sums")
      all.sums = type_from(place, value);
    else if (what == "weights")
      all.weights = type_from(place, value);
    else if (what == "scores")
      all.scores = type_from(place, value);
    else if (what == "products")
      all.products = products_from(place, value);
    else if (what == "exp")
      all.exp = size_from(place, value);
    else if (what == "step")
      all.step = size_from(place, value);
    else
      throw Error(name,
                  in_quotes(part) +
                      " is not sums=TYPE, weights=TYPE, scores=TYPE, products=TYPE, exp=ERROR "
                      "or step=STEP");
  }
  if (all.exp >= 1) throw Error(name + ": exp", "a relative error of 1 or more says nothing");
  return all;
}

}  // namespace sdpa
