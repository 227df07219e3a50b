#include "io/raw.h"

#include "base/error.h"
#include "io/decode.h"
#include "io/fitting.h"
#include "io/npy.h"

#include <string>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

/// Float types of which an array of this shape takes `size` bytes.
std::vector<std::string> fitting_types(Index size, const Shape& shape) {
  std::vector<std::string> words;
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64})
    if (shape.element_count() != 0 && shape.element_count() * size_bytes(dtype) == size)
      words.push_back("as " + std::string(name(dtype)));
  return words;
}

}  // namespace

Array read_raw(const FileBytes& file, Dtype dtype, const Shape& shape, std::string_view place) {
  if (is_npy(file.bytes))
    throw Error(place, "is a .npy file, which says its type and shape itself; leave out :" +
                           std::string(name(dtype)) + ":" + shape_word(shape));

  const auto size = static_cast<Index>(file.bytes.size());
  if (size != shape.element_count() * size_bytes(dtype)) {
    std::vector<std::string> fitting = fitting_types(size, shape);
    if (size % size_bytes(dtype) == 0)
      for (std::string& word : fitting_shapes(size / size_bytes(dtype), shape))
        fitting.push_back(std::move(word));
    throw Error(place, std::to_string(size) + " bytes, shape " + shape.text() + " of " +
                           std::string(name(dtype)) + " needs " +
                           std::to_string(shape.element_count() * size_bytes(dtype)) +
                           proposal_text(fitting));
  }
  return decode(file, {dtype, shape}, place);
}

}  // namespace sdpa
