#include "array/view.h"

#include <cstring>

namespace sdpa {

Array MatrixView::array() const {
  if (rows_adjoin()) return array_.part(first_, Shape({rows_, columns_}));
  Array copy(Shape({rows_, columns_}), dtype());
  const Index row_bytes = columns_ * size_bytes(dtype());
  for (Index r = 0; r < rows_; ++r)
    std::memcpy(copy.mutable_data() + r * row_bytes, row(r), static_cast<std::size_t>(row_bytes));
  return copy;
}

}  // namespace sdpa
