#include "cli/suggest.h"

#include <algorithm>
#include <cctype>

namespace sdpa {

namespace {

/// The word in lower case, without the dashes in front.
std::string stem(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string letters(word);
  for (char& letter : letters)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return letters;
}

/// How many letters are to be put in, left out, replaced, or swapped with their neighbour to make
/// one word of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  // distance[i][j] of the first i letters of a and the first j of b
  std::vector<std::vector<std::size_t>> distance(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& here = distance[i][j];
      here = std::max(i, j);
      if (i == 0 || j == 0) continue;
      here = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                       distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        here = std::min(here, distance[i - 2][j - 2] + 1);
    }
  return distance[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t kLongest = 40;  // of what may be a slip; the cost grows with the length
  constexpr std::size_t kShortestBeginning = 3;
  const std::string typed = stem(word);
  if (typed.size() > kLongest) return "";
  std::string nearest;
  std::size_t smallest = typed.size() / 3 + 1;
  for (const std::string& candidate : words) {
    const std::string name = stem(candidate);
    std::size_t distance = edit_distance(typed, name);
    if (typed.size() >= kShortestBeginning && name.starts_with(typed))
      distance = std::min<std::size_t>(distance, 1);
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace sdpa
