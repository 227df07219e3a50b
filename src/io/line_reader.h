#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The lines of an input, one after the other, as they come; "-" is standard input. Memory is what the
/// longest line takes.
class LineReader {
 public:
  /// Throws Error that names the file if it is a folder or cannot be opened.
  explicit LineReader(const std::string& path);
  ~LineReader();

  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// The next line without its end, valid until the next call; nothing at the end of the file. Throws
  /// Error if the file cannot be read.
  std::optional<std::string_view> next();

  /// Whether next() has a line at once, without waiting for whoever writes it.
  bool has_line() const;

  /// How messages call the file.
  const std::string& place() const { return place_; }

 private:
  bool read_more();

  std::string place_;
  int descriptor_;
  bool is_at_end_ = false;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< of what has been read and not returned
  std::size_t searched_ = 0;         ///< no line ends before
};

}  // namespace sdpa
