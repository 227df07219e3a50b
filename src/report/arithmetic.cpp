#include "report/arithmetic.h"

#include "base/numbers.h"

namespace sdpa {

namespace {

constexpr const char* kProducts[] = {"float32", "tf32", "bfloat16", "float16"};

}  // namespace

std::string products_text(Products products) {
  return kProducts[static_cast<int>(products)];
}

double Arithmetic::product_error() const {
  // tf32 has 11 significant bits, and may be cut instead of rounded.
  constexpr double kErrors[] = {0, 0x1p-10, 0x1p-8, 0x1p-11};
  return kErrors[static_cast<int>(products)];
}

std::string Arithmetic::text() const {
  std::string text = "sums=" + std::string(name(sums)) + ", weights=" + std::string(name(weights));
  if (scores) text += ", scores=" + std::string(name(*scores));
  if (products != Products::whole) text += ", products=" + products_text(products);
  if (exp != 0) text += ", exp=" + shortest_text(exp);
  if (step != 0) text += ", step=" + shortest_text(step);
  return text;
}

}  // namespace sdpa
