#pragma once

#include "array/array.h"

#include <string>

namespace sdpa {

/// An array, and how messages call it.
struct NamedArray {
  Array array;
  std::string name;
};

}  // namespace sdpa
