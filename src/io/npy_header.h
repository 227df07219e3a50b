#pragma once

#include "base/index.h"

#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The dictionary in a .npy header, not yet understood.
struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<Index> shape;
};

/// Reads the dictionary; `suffix_L` allows integers such as 2L, as Python 2 wrote them.
///
/// The grammar is no deeper than this dictionary, so nesting cannot exhaust the stack. Throws Error
/// that begins with `place` and gives the byte of the header where something else stands.
NpyHeader parse_npy_header(std::string_view text, bool suffix_L, std::string_view place);

}  // namespace sdpa
