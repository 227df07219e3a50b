#pragma once

#include "array/array.h"
#include "io/output_form.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace sdpa {

/// Writes one array to a file, in C order, piece by piece.
///
/// A regular file appears (or is replaced) only by commit(): until then the bytes go to a temporary
/// file beside it, which the destructor removes, and so does a signal that ends the process. Pipes,
/// devices and standard output are written as the values come.
class ArrayWriter {
 public:
  virtual ~ArrayWriter() = default;

  /// Adds the next values, in the type and byte order of an Array's memory.
  /// Throws Error that names the file if it cannot be written, or if the form cannot hold a value
  /// (a NaN in JSON).
  virtual void append(std::span<const std::byte> values) = 0;

  /// Writes what is left, after all values have been appended. The file is complete then but does
  /// not appear yet, so that several can appear together.
  virtual void finish() = 0;

  /// Makes the file appear; finishes it first where that has not been done.
  virtual void commit() = 0;

  /// What the user should know after commit(), as OutputFile says it; mostly nothing.
  virtual std::string note() const = 0;
};

/// Opens `path` for an array of this shape and type. Its extension says the form (see output_form), or
/// `wanted`; "-" is standard output. In a file that holds several arrays, this one is called `name`, and
/// results that are opened for one such path before any value is written become one file.
///
/// Throws Error for a name without a form, if the file cannot be made there, if the form cannot hold the
/// type, or if it would be binary on a terminal.
std::unique_ptr<ArrayWriter> open_array_writer(const std::string& path, const Shape& shape,
                                               Dtype dtype, const std::string& name = "output",
                                               std::optional<OutputForm> wanted = {});

}  // namespace sdpa
