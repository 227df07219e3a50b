#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The one of `words` that somebody who typed `word` may have meant: the first of the nearest, if
/// at most a third of its letters are wrong or it only lacks its end. Empty if none is so near.
/// Case and dashes in front do not count.
std::string nearest_word(std::string_view word, const std::vector<std::string>& words);

}  // namespace sdpa
