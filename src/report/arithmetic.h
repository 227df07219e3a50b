#pragma once

#include "array/dtype.h"

#include <optional>
#include <string>

namespace sdpa {

/// Into what a kernel rounds both factors of a product before it multiplies them.
enum class Products { whole, tf32, bfloat16, float16 };

/// The arithmetic that a kernel declares.
struct Arithmetic {
  Dtype sums;                                  ///< of products, exponentials and sums
  Dtype weights;                               ///< in which the weights enter the second product
  Dtype output;                                ///< of the result
  std::optional<Dtype> scores = std::nullopt;  ///< in which they are stored; absent: that of sums
  Products products = Products::whole;         ///< of both matrix products
  double exp = 0;                              ///< relative error of an exponential; 0: two ulp
  double step = 0;  ///< the output is a multiple of it, rounded or cut; 0: no such step

  /// The relative error of a factor of a product, 0 if it is taken as it is.
  double product_error() const;

  /// As the option --arithmetic has it: "sums=float32, weights=bfloat16", the type of the output left out.
  std::string text() const;

  bool operator==(const Arithmetic&) const = default;
};

/// "tf32"
std::string products_text(Products products);

}  // namespace sdpa
