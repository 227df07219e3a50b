#pragma once

#include <string>

namespace sdpa {

/// The manual page sdpa(1), in the macros of man(7).
std::string man_page();

}  // namespace sdpa
