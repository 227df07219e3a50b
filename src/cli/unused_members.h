#pragma once

#include "io/case.h"

#include <string_view>

namespace sdpa {

/// One warning on standard error that names the members of a case file, called `place`, which nobody
/// uses although they are called as if they changed the result: masks, lengths, scales and the like.
void warn_of_unused_members(const Case& found, std::string_view place);

}  // namespace sdpa
