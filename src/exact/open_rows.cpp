#include "exact/open_rows.h"

#include <algorithm>
#include <utility>

namespace sdpa {

std::vector<OpenRow> OpenRows::take() {
  std::vector<OpenRow> rows = std::exchange(rows_, {});
  std::ranges::stable_sort(rows, {}, &OpenRow::row);
  std::vector<OpenRow> merged;
  for (OpenRow& row : rows) {
    if (merged.empty() || merged.back().row != row.row) {
      merged.push_back(std::move(row));
      continue;
    }
    OpenRow& last = merged.back();
    last.outputs.insert(last.outputs.end(), row.outputs.begin(), row.outputs.end());
    last.weights.insert(last.weights.end(), row.weights.begin(), row.weights.end());
  }
  return merged;
}

}  // namespace sdpa
