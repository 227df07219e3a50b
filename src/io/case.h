#pragma once

#include "array/array.h"

namespace sdpa {

/// The operands of one problem from a single file.
struct Case {
  Array q, k, v;
};

}  // namespace sdpa
