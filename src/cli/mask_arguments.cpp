#include "cli/mask_arguments.h"

#include "base/error.h"
#include "base/numbers.h"
#include "cli/case_members.h"
#include "io/array_file.h"
#include "io/quote.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sdpa {

namespace {

std::optional<Index> small_integer(std::string_view word) {
  const std::optional<long long> number = parse_integer(word);
  if (!number || *number <= -Visible::kOpen || *number >= Visible::kOpen) return std::nullopt;
  return static_cast<Index>(*number);
}

Index side_from(std::string_view name, std::string_view word, std::string_view side) {
  if (side == "inf") return Visible::kOpen;
  const std::optional<Index> keys = small_integer(side);
  if (!keys)
    throw Error(name, in_quotes(word) + " is not L,R: two counts of keys, or inf, as 128,0");
  if (*keys < 0)
    throw Error(name, in_quotes(word) + " has a side of " + std::string(side) +
                          " keys; the side that is open is inf");
  return *keys;
}

Array lengths_array(const std::vector<Index>& lengths) {
  Array array(Shape({std::ssize(lengths)}), Dtype::int64);
  std::memcpy(array.mutable_data(), lengths.data(), lengths.size() * sizeof lengths[0]);
  return array;
}

/// "5,11,22" as numbers; nothing if it is a file.
std::optional<std::vector<Index>> lengths_from(std::string_view word) {
  std::vector<Index> lengths;
  for (bool more = true; more;) {
    const std::size_t comma = word.find(',');
    const std::optional<Index> length = small_integer(word.substr(0, comma));
    if (!length) return std::nullopt;
    lengths.push_back(*length);
    more = comma != word.npos;
    if (more) word.remove_prefix(comma + 1);
  }
  return lengths;
}

NamedArray read_lengths(const char* name, const std::string& word) {
  if (const auto lengths = lengths_from(word)) return {lengths_array(*lengths), name};
  return {read_array(word), place_of(word)};
}

bool truth_of(const CaseMember& member, const std::string& name) {
  if (member.array && member.array->shape().element_count() == 1 &&
      (member.array->at(0) == 0 || member.array->at(0) == 1))
    return member.array->at(0) == 1;
  throw Error(name, "is not true or false");
}

std::string with_commas(Index number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

Window window_from(std::string_view name, std::string_view word) {
  const std::size_t comma = word.find(',');
  if (comma == word.npos)
    throw Error(name, in_quotes(word) +
                          " is one number; give both sides as L,R: keys before the query and keys "
                          "behind it, as 128,0");
  return {side_from(name, word, word.substr(0, comma)),
          side_from(name, word, word.substr(comma + 1))};
}

Alignment alignment_from(std::string_view name, std::string_view word) {
  using enum Alignment::Corner;
  if (word == kCorners[0]) return {top_left, 0};
  if (word == kCorners[1]) return {bottom_right, 0};
  const std::optional<Index> number = small_integer(word);
  if (!number)
    throw Error(name, in_quotes(word) + " is not top-left, bottom-right or a whole number");
  return {offset, *number};
}

MaskOptions read_mask(const MaskArguments& a, const std::vector<CaseMember>& members,
                      std::string_view place) {
  MaskOptions mask;
  mask.causal = a.causal;
  mask.window = a.window;
  mask.align = a.align;
  if (a.key_lengths) mask.key_lengths = read_lengths("--key-lengths", *a.key_lengths);
  if (a.query_lengths) mask.query_lengths = read_lengths("--query-lengths", *a.query_lengths);
  if (a.mask) mask.mask = {read_array(*a.mask), place_of(*a.mask)};
  if (a.bias) mask.bias = {read_array(*a.bias), place_of(*a.bias)};
  mask.mask_hides = a.mask_hides.value_or(false);
  mask.empty_rows = a.empty_rows.value_or(EmptyRows::zero);

  const CaseMembers all(members, place);
  const auto array_to = [](std::optional<NamedArray>& to) {
    return [&to](const CaseMember& member, const std::string& name) {
      to = CaseMembers::array_of(member, name);
    };
  };
  all.take("causal", a.causal,
           [&](const CaseMember& m, const std::string& name) { mask.causal = truth_of(m, name); });
  all.take("window", a.window.has_value(), [&](const CaseMember& m, const std::string& name) {
    mask.window = window_from(name, CaseMembers::text_of(m, name));
  });
  all.take("align", a.align.has_value(), [&](const CaseMember& m, const std::string& name) {
    mask.align = alignment_from(name, CaseMembers::text_of(m, name));
  });
  all.take("key-lengths", a.key_lengths.has_value(), array_to(mask.key_lengths));
  all.take("query-lengths", a.query_lengths.has_value(), array_to(mask.query_lengths));
  all.take("mask", a.mask.has_value(), array_to(mask.mask));
  all.take("bias", a.bias.has_value(), array_to(mask.bias));
  bool mask_true = a.mask_hides.has_value();
  all.take("mask-true", mask_true, [&](const CaseMember& m, const std::string& name) {
    mask_true = true;
    mask.mask_hides = CaseMembers::choice_of(m, name, kMaskTrue) == 1;
  });
  all.take("empty-rows", a.empty_rows.has_value(),
           [&](const CaseMember& m, const std::string& name) {
             mask.empty_rows = EmptyRows(CaseMembers::choice_of(m, name, kEmptyRows));
           });
  if (mask_true && !mask.mask)
    throw Error("--mask-true", "there is no --mask whose true could mean anything");
  return mask;
}

std::vector<std::string_view> mask_member_names() {
  return {"causal", "window",    "align", "key-lengths", "query-lengths",
          "mask",   "mask-true", "bias",  "empty-rows"};
}

std::string visible_text(Index visible_pairs, Index pairs, Index empty_rows) {
  return with_commas(visible_pairs) + " of " + with_commas(pairs) + " pairs visible; " +
         with_commas(empty_rows) + (empty_rows == 1 ? " row sees" : " rows see") + " no key";
}

}  // namespace sdpa
