#pragma once

#include "array/array.h"
#include "stage/results.h"

#include <optional>
#include <string_view>

namespace sdpa {

/// How far a value is carried.
enum class Precision {
  exact,    ///< every value is the real-number result, rounded once
  float64,  ///< plain arithmetic in float64
  float32,  ///< plain arithmetic in float32
};

struct Settings {
  Precision precision = Precision::exact;
  std::optional<Dtype> dtype{};  ///< of the results; absent: result_type of q, k and v
  int threads = 1;               ///< changes no bit of any result
  bool weights = false;          ///< also return the weights; changes no bit of the output
};

/// Scaled dot-product attention of one head:  output = softmax(q k^T / sqrt(d_k)) v
/// (Vaswani et al. 2017, "Attention Is All You Need", equation 1).
///
/// q   (T_q, d_k)   one row a query
/// k   (T_k, d_k)   one row a key
/// v   (T_k, d_v)   row j belongs to key j
///
/// Every query attends to every key. With Precision::exact each finite result is the real number
/// that the formula gives for the numbers in q, k and v, rounded once to the result type (nearest,
/// ties to even). A zero is +0.
///
/// Values that are not finite follow IEEE 754 applied to the formula: a NaN in row t of q makes row
/// t NaN, a NaN in k makes every row NaN, a NaN in v makes its column NaN; a row whose largest
/// score is +inf is NaN; a score of -inf is weight 0 as long as the row has a finite score, and 0
/// times infinity is NaN.
///
/// Throws Error if the shapes do not fit (see check_shapes in problem.h).
Attention attention(const Array& q, const Array& k, const Array& v, const Settings& settings = {});

/// The instruction set that attention uses on this processor, as "avx2". The environment variable
/// SDPA_FORCE_ISA names another; it changes no bit of any result.
/// Throws Error if that one is unknown or not supported here.
std::string_view instruction_set_name();

}  // namespace sdpa
