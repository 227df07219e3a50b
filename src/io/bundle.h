#pragma once

#include "array/array.h"
#include "io/output_file.h"
#include "io/output_form.h"
#include "io/zip_writer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sdpa {

/// A file of several arrays that are written at the same time, piece by piece: .npz (stored) or
/// .safetensors. Their sizes are known before the first value, so each piece goes where it belongs.
class Bundle {
 public:
  /// Throws Error as OutputFile does, or if `path` is a terminal.
  Bundle(const std::string& path, OutputForm form);

  /// Adds an array before the first append() and returns its number. Throws Error if there is one of
  /// this name, if the form has no name for the type, or if a second one would go to a stream.
  std::size_t add(const std::string& name, const Shape& shape, Dtype dtype);

  /// Adds the next values of an array.
  void append(std::size_t array, std::span<const std::byte> values);

  /// Says that an array is complete; with the last one the file is.
  void finish(std::size_t array);

  /// Makes the file appear, if all arrays are complete.
  void commit();

  bool has_begun() const { return has_begun_; }
  const OutputFile& file() const { return file_; }

 private:
  struct Part {
    std::string name;
    Shape shape;
    Dtype dtype;
    std::uint64_t offset = 0;  ///< of its next value in the file
    bool is_finished = false;
  };

  void begin();
  void begin_npz();
  void begin_safetensors();
  void put(std::uint64_t offset, std::span<const std::byte> bytes);
  void put(std::uint64_t offset, std::string_view text);

  OutputFile file_;
  OutputForm form_;
  std::vector<Part> parts_;
  std::vector<ZipEntry> entries_;  ///< of an .npz, one for each part
  bool has_begun_ = false;
  bool is_committed_ = false;
  std::uint64_t position_ = 0;  ///< behind what has been written in order
  std::uint64_t end_ = 0;       ///< of the last array
};

}  // namespace sdpa
