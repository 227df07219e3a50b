#pragma once

#include "base/index.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// Types of array elements. The integers are read, never written; truth values are for masks.
enum class Dtype {
  float16,   ///< IEEE 754 binary16
  bfloat16,  ///< the upper half of a float32
  float32,
  float64,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  boolean,        ///< a byte, 0 or 1
  float8_e4m3fn,  ///< OCP 8-bit float; up to 448, no infinity, one NaN of each sign
  float8_e5m2,    ///< the upper half of a float16
};

/// Every type, once.
std::vector<Dtype> all_dtypes();

Index size_bytes(Dtype dtype);
bool is_float(Dtype dtype);

/// All that results can have.
std::vector<Dtype> float_types();

/// numpy's name, as "float32".
std::string_view name(Dtype dtype);

/// The type called `word`, in upper case or lower: a name as above, or one of f16, fp16, half; bf16;
/// f32, fp32, float, single; f64, fp64, double; e4m3, e5m2, alone or behind fp8_ or the like; i16,
/// u16 and so on; boolean. Nothing for any other word, nor for i8, u8 and f8, which have 8 bytes for
/// numpy and 8 bits for others.
std::optional<Dtype> parse_dtype(std::string_view word);

/// The type that numpy's result_type gives for two operands, where integers count as float64: the
/// smallest type that holds both. bfloat16 and float16 give float32, the two types of 8 bits float16.
Dtype result_type(Dtype a, Dtype b);

/// The nearest number of the float type, ties to even; beyond its range an infinity, also of a type
/// that cannot store it.
double rounded(double value, Dtype dtype);

/// The fewest digits that read back to the same value of the float type `dtype`; `value` is a value
/// of it.
std::string shortest_text(double value, Dtype dtype);

}  // namespace sdpa
