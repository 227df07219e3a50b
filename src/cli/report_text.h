#pragma once

#include "array/array.h"

#include <nlohmann/json.hpp>

#include <string>

namespace sdpa {

/// How reports of arrays show places and values. In JSON everything that is no number of JSON is a
/// string: "nan", "inf", "-inf".

/// Element `position`: "0.1 (0x3dcccccd)", the shortest digits of its type and its bits.
std::string element_text(const Array& array, Index position);

/// The same as {"value": 0.1, "hex": "0x3dcccccd"}.
nlohmann::ordered_json element_json(const Array& array, Index position);

/// A place as [2, 0, 1].
nlohmann::ordered_json index_json(const Shape& shape, Index position);

/// {"file": ..., "type": ..., "shape": [...]}
nlohmann::ordered_json array_json(const std::string& place, const Array& array);

nlohmann::ordered_json number_json(double value);

/// How far a is from e: "2 ulp of float32 apart"; where steps tell nothing, "across zero", "to NaN", "to
/// inf" or "beyond float16".
std::string ulps_text(double a, double e, Dtype dtype);

/// The same: a number, or these words.
nlohmann::ordered_json ulps_json(double a, double e, Dtype dtype);

/// At most three significant digits, for what is a measure and not a value.
std::string measure_text(double value);

/// The document as it is printed, indented; bytes of file names that are not UTF-8 are replaced.
std::string document_text(const nlohmann::ordered_json& document);

}  // namespace sdpa
