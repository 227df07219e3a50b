#pragma once

#include "array/array.h"
#include "io/case.h"

#include <string>
#include <string_view>

namespace sdpa {

/// Reads the array that one word of the command line names, FILE[#NAME][:TYPE[*FACTOR]][:SHAPE][[INDEX]] as
/// parse_argument takes it apart, where FILE may be "-" for standard input. The content decides the
/// form; see the formats of README.md. INDEX is applied to what the file holds, then what TYPE says of
/// these numbers (see declared()), then FACTOR.
///
/// Throws Error that begins with the file ("standard input" for "-") if it cannot be read, is
/// malformed, or holds something that is not taken exactly.
Array read_array(std::string_view argument);

/// How messages call the array that `argument` names: without its :TYPE:SHAPE; "standard input" for
/// "-". Throws nothing, even if read_array would.
std::string place_of(std::string_view argument);

/// Reads a case file, q, k and v in one: a JSON object, an .npz archive or a .safetensors file; "-" is
/// standard input. A :TYPE behind it is that of its operands. Throws Error as read_array and case_from
/// do.
Case read_case(std::string_view argument, const CaseWishes& wishes = {});

}  // namespace sdpa
