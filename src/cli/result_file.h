#pragma once

#include "array/array.h"
#include "io/array_writer.h"
#include "report/non_finite.h"

#include <memory>
#include <string>
#include <string_view>

namespace sdpa {

/// One result on its way to a file, slab by slab, with a count of the values that are not finite.
class ResultFile {
 public:
  /// Opens `path` as open_array_writer does. `kind` is what messages call the values, and files of several
  /// results the array: "output".
  ResultFile(std::string_view kind, const std::string& path, Shape shape, Dtype dtype,
             std::optional<OutputForm> form = {});

  /// -inf is a value like others.
  void expect_minus_infinity() { expects_minus_infinity_ = true; }

  /// Adds the next values, which are of the type given before. They are counted even if the form
  /// cannot hold them, and Error is thrown.
  void append(const Array& slab);

  /// Writes what is left; the file is complete then but does not appear yet.
  void finish() { writer_->finish(); }

  /// Makes the file appear.
  void commit() { writer_->commit(); }

  bool is_finite() const { return non_finite_.count == 0; }

  /// One line on standard error if some values are not finite, with their number and the first
  /// place, and one if the file could not be replaced.
  void warn() const;

 private:
  std::string kind_;
  Shape shape_;
  std::unique_ptr<ArrayWriter> writer_;
  Index appended_ = 0;
  NonFinite non_finite_;
  bool expects_minus_infinity_ = false;
};

}  // namespace sdpa
