#include "cli/report_text.h"

#include "base/numbers.h"
#include "report/ulp.h"

#include <charconv>
#include <cmath>

namespace sdpa {

using nlohmann::ordered_json;

namespace {

/// The bits of an element, most significant digit first.
std::string hex_text(const Array& array, Index position) {
  constexpr char kDigits[] = "0123456789abcdef";
  const Index size = size_bytes(array.dtype());
  const std::byte* bytes = array.data() + position * size;
  std::string text = "0x";
  for (Index i = size; i-- > 0;) {
    const auto byte = std::to_integer<unsigned>(bytes[i]);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace

std::string element_text(const Array& array, Index position) {
  return shortest_text(array.at(position), array.dtype()) + " (" + hex_text(array, position) + ")";
}

ordered_json element_json(const Array& array, Index position) {
  return {{"value", number_json(array.at(position))}, {"hex", hex_text(array, position)}};
}

ordered_json index_json(const Shape& shape, Index position) {
  ordered_json index = ordered_json::array();
  for (Index axis = shape.rank(); axis-- > 0; position /= shape[axis])
    index.insert(index.begin(), position % shape[axis]);
  return index;
}

ordered_json array_json(const std::string& place, const Array& array) {
  ordered_json shape = ordered_json::array();
  for (Index extent : array.shape().extents()) shape.push_back(extent);
  return {{"file", place}, {"type", name(array.dtype())}, {"shape", shape}};
}

ordered_json number_json(double value) {
  if (!std::isfinite(value)) return shortest_text(value);
  return value;
}

std::string ulps_text(double a, double e, Dtype dtype) {
  const ordered_json ulps = ulps_json(a, e, dtype);
  if (ulps.is_string()) return ulps;
  return ulps.dump() + " ulp of " + std::string(name(dtype)) + " apart";
}

ordered_json ulps_json(double a, double e, Dtype dtype) {
  const std::uint64_t ulps = ulp_distance(a, e, dtype);
  if (ulps == 0 || (std::isnan(a) && std::isnan(e))) return 0;
  if (std::isnan(a) || std::isnan(e)) return "to NaN";
  if (std::isinf(a) || std::isinf(e)) return "to inf";
  if (a == 0 || e == 0 || std::signbit(a) != std::signbit(e)) return "across zero";
  if (ulps == kInfinitelyFar) return "beyond " + std::string(name(dtype));
  return ulps;
}

std::string measure_text(double value) {
  if (!std::isfinite(value)) return shortest_text(value);
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, 3).ptr;
  return std::string(buffer, end);
}

std::string document_text(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace sdpa
