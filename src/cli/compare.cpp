#include "base/error.h"
#include "cli/commands.h"
#include "cli/report_text.h"
#include "cli/streams.h"
#include "io/array_file.h"
#include "io/quote.h"
#include "report/ulp.h"

#include <optional>

namespace sdpa {

using nlohmann::ordered_json;

namespace {

struct Sides {
  std::string actual_place, expected_place;
  Array actual, expected;
};

/// Why the values cannot even be laid side by side: "shape" or "type"; nothing if they can.
std::optional<std::string> mismatch(const Sides& sides, const Tolerance& tolerance) {
  if (!(sides.actual.shape() == sides.expected.shape())) return "shape";
  if (tolerance.bitwise && sides.actual.dtype() != sides.expected.dtype()) return "type";
  return std::nullopt;
}

std::string of(Index part, Index count) {
  return std::to_string(part) + " of " + std::to_string(count) + " values";
}

std::string verdict_text(const Sides& sides, const Difference& d) {
  if (d.count == 0) return "equal: both are empty, of shape " + sides.actual.shape().text();
  if (d.unequal == 0) return "equal: all " + std::to_string(d.count) + " values";
  if (d.equal()) return "equal within the tolerance: " + of(d.unequal, d.count) + " differ";
  if (d.outside == d.unequal) return "different: " + of(d.unequal, d.count) + " differ";
  return "different: " + of(d.outside, d.count) + " are outside the tolerance, " +
         std::to_string(d.unequal) + " differ";
}

/// "  first     [0, 3]  1 (0x3f800000), expected 2 (0x40000000)"
std::string place_text(const char* label, const Sides& sides, Index position) {
  return label + sides.actual.shape().index_text(position) + "  " +
         element_text(sides.actual, position) + ", expected " +
         element_text(sides.expected, position) + "\n";
}

std::string sizes_text(const Sides& sides, const Difference& d) {
  if (d.absolute.position < 0) return "";
  const auto at = [&](Index position) {
    return " at " + sides.actual.shape().index_text(position) + "\n";
  };
  const std::string type(name(d.ulp_type));
  std::string text = "  absolute  at most " + measure_text(d.absolute.value) +
                     at(d.absolute.position) + "  relative  at most " +
                     measure_text(d.relative.value) + at(d.relative.position);
  if (d.ulps.position >= 0)
    text +=
        "  ulp       at most " + std::to_string(d.ulps.value) + " of " + type + at(d.ulps.position);
  const auto percentile = [&](std::uint64_t ulps) {
    if (ulps != kInfinitelyFar) return std::to_string(ulps);
    return d.across_zero > 0 ? "across zero" : "beyond " + type;
  };
  text += (d.ulps.position >= 0 ? "            median " : "  ulp       median ") +
          percentile(d.median_ulps) + ", 99th percentile " + percentile(d.percentile_99_ulps) +
          ", over all values\n";
  if (d.across_zero > 0)
    text += "            not counted: " + of(d.across_zero, d.count) + " are across zero\n";
  if (d.beyond_ulp_type > 0)
    text +=
        "            not counted: " + of(d.beyond_ulp_type, d.count) + " are beyond " + type + "\n";
  return text;
}

std::string text(const Sides& sides, const Difference& d) {
  const std::string actual = printable(sides.actual_place);
  const std::string expected = printable(sides.expected_place);
  std::string text = verdict_text(sides, d) + "\n";
  for (const auto& [label, place, array] : {std::tuple("  actual    ", actual, sides.actual),
                                            std::tuple("  expected  ", expected, sides.expected)})
    text +=
        label + place + ", " + std::string(name(array.dtype())) + " " + array.shape().text() + "\n";
  if (d.first) text += place_text("  first     ", sides, *d.first);
  if (d.worst) text += place_text("  worst     ", sides, *d.worst);
  text += sizes_text(sides, d);
  if (d.outside != 0) text += "  pattern   " + d.pattern.text() + "\n";
  if (d.actual_nans + d.expected_nans != 0)
    text += "  NaN       " + std::to_string(d.actual_nans) + " in " + actual + ", " +
            std::to_string(d.expected_nans) + " in " + expected + "\n";
  if (d.zero_signs != 0)
    text += "  zeros     " + of(d.zero_signs, d.count) + " differ in the sign of zero\n";
  return text;
}

/// A percentile of distances.
ordered_json ulps_json(std::uint64_t ulps) {
  if (ulps == kInfinitelyFar) return "inf";
  return ulps;
}

ordered_json sides_json(const Sides& sides) {
  return {{"actual", array_json(sides.actual_place, sides.actual)},
          {"expected", array_json(sides.expected_place, sides.expected)}};
}

ordered_json json(const Sides& sides, const Difference& d) {
  const Shape& shape = sides.actual.shape();
  const auto place = [&](std::optional<Index> position) -> ordered_json {
    if (!position) return nullptr;
    return {{"index", index_json(shape, *position)},
            {"actual", element_json(sides.actual, *position)},
            {"expected", element_json(sides.expected, *position)}};
  };
  const auto largest = [&](Index position, const ordered_json& value) -> ordered_json {
    if (position < 0) return nullptr;
    return {{"value", value}, {"index", index_json(shape, position)}};
  };
  ordered_json document = {{"verdict", d.equal() ? "equal" : "different"}};
  document["reason"] = d.equal() ? ordered_json(nullptr) : ordered_json("values");
  document.update(sides_json(sides));
  document["actual"]["nan"] = d.actual_nans;
  document["expected"]["nan"] = d.expected_nans;
  document["count"] = d.count;
  document["unequal"] = d.unequal;
  document["outside"] = d.outside;
  document["incomparable"] = d.incomparable;
  document["zero_signs"] = d.zero_signs;
  document["first"] = place(d.first);
  document["worst"] = place(d.worst);
  document["largest_absolute"] = largest(d.absolute.position, number_json(d.absolute.value));
  document["largest_relative"] = largest(d.relative.position, number_json(d.relative.value));
  document["largest_ulp"] = largest(d.ulps.position, d.ulps.value);
  document["ulp_type"] = name(d.ulp_type);
  document["median_ulp"] = ulps_json(d.median_ulps);
  document["percentile_99_ulp"] = ulps_json(d.percentile_99_ulps);
  document["across_zero"] = d.across_zero;
  document["beyond_ulp_type"] = d.beyond_ulp_type;
  document["pattern"] = d.pattern.text();
  return document;
}

std::string mismatch_text(const Sides& sides, const std::string& reason) {
  const auto of_side = [&](const std::string& place, const Array& array) {
    return printable(place) + " has " + reason + " " +
           (reason == "shape" ? array.shape().text() : std::string(name(array.dtype())));
  };
  return "different: " + of_side(sides.actual_place, sides.actual) + ", " +
         of_side(sides.expected_place, sides.expected) + "\n";
}

ordered_json mismatch_json(const Sides& sides, const std::string& reason) {
  ordered_json document = {{"verdict", "different"}, {"reason", reason}};
  document.update(sides_json(sides));
  return document;
}

}  // namespace

int run(const CompareOptions& options) {
  const Sides sides{place_of(options.actual), place_of(options.expected),
                    read_array(options.actual), read_array(options.expected)};
  if (const auto reason = mismatch(sides, options.tolerance)) {
    print(options.json ? document_text(mismatch_json(sides, *reason))
                       : mismatch_text(sides, *reason));
    return 1;
  }
  const Difference d = difference(sides.actual, sides.expected, options.tolerance);
  print(options.json ? document_text(json(sides, d)) : text(sides, d));
  return d.equal() ? 0 : 1;
}

}  // namespace sdpa
