#include "attention/packing.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

std::vector<Index> offsets_of(const NamedArray& given, Index total, const std::string& of) {
  const Shape& shape = given.array.shape();
  if (given.array.dtype() == Dtype::boolean)
    throw Error(given.name, "holds bool, but offsets are integers");
  if (shape.rank() != 1 || shape.element_count() == 0)
    throw Error(given.name, "shape " + shape.text() +
                                " is not that of offsets, which is (B + 1,) for B sequences");
  std::vector<Index> offsets;
  for (Index i = 0; i < shape.element_count(); ++i) {
    const double value = given.array.at(i);
    const auto at = [i](Index back) { return "offset " + std::to_string(i - back); };
    const std::string text = at(0) + " is " + shortest_text(value, Dtype::float64);
    if (!(std::trunc(value) == value)) throw Error(given.name, text + ", not an integer");
    if (i == 0 && value != 0)
      throw Error(given.name, text + ", but the first sequence begins at 0");
    if (i > 0 && value < static_cast<double>(offsets.back()))
      throw Error(given.name, text + ", but " + at(1) + " is " + std::to_string(offsets.back()) +
                                  ": no sequence ends before it begins");
    if (!(value <= static_cast<double>(total)))
      throw Error(given.name, text + ", but " + of + " has " + std::to_string(total) + " rows");
    offsets.push_back(static_cast<Index>(value));
  }
  if (offsets.back() != total)
    throw Error(given.name, "the last offset is " + std::to_string(offsets.back()) + ", but " + of +
                                " has " + std::to_string(total) + " rows");
  return offsets;
}

}  // namespace

Packing::Packing(const NamedArray& q, const NamedArray& k, Index total_q, Index total_k,
                 const std::string& q_name, const std::string& k_name)
    : q_(offsets_of(q, total_q, q_name)), k_(offsets_of(k, total_k, k_name)) {
  if (k_.size() != q_.size())
    throw Error(k.name, std::to_string(k_.size()) + " offsets, but " + q.name + " has " +
                            std::to_string(q_.size()));
}

Index Packing::sequence_of(Index t) const {
  if (!is_packed()) return 0;
  return std::ranges::upper_bound(q_, t) - q_.begin() - 1;
}

double Packing::pairs() const {
  double pairs = 0;
  for (Index b = 0; b < sequences(); ++b)
    pairs += static_cast<double>(queries(b)) * static_cast<double>(keys(b));
  return pairs;
}

std::string Packing::text() const {
  std::vector<Index> of_queries, of_keys;
  for (Index b = 0; b < sequences(); ++b) {
    of_queries.push_back(queries(b));
    of_keys.push_back(keys(b));
  }
  std::string text = std::to_string(sequences()) + (sequences() == 1 ? " sequence" : " sequences");
  if (sequences() != 0)
    text += ", query lengths " + values_text(of_queries) + ", key lengths " + values_text(of_keys);
  return text;
}

std::string values_text(const std::vector<Index>& values) {
  constexpr std::size_t kMost = 4;
  const auto [least, largest] = std::ranges::minmax(values);
  if (least == largest) return std::to_string(least);
  if (values.size() > kMost) return std::to_string(least) + " to " + std::to_string(largest);
  std::string text;
  for (Index value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

}  // namespace sdpa
