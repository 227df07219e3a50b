#include "io/line_reader.h"

#include "base/error.h"
#include "io/descriptor.h"
#include "io/quote.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace sdpa {

namespace {

int opened(const std::string& path, const std::string& place) {
  const int descriptor = path == "-" ? STDIN_FILENO : open_file(path.c_str(), O_RDONLY);
  if (descriptor < 0) throw_system_error(place, errno);
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
    if (descriptor != STDIN_FILENO) close(descriptor);
    throw_system_error(place, EISDIR);
  }
  return descriptor;
}

}  // namespace

LineReader::LineReader(const std::string& path)
    : place_(path == "-" ? "standard input" : printable(path)), descriptor_(opened(path, place_)) {}

LineReader::~LineReader() {
  if (descriptor_ != STDIN_FILENO) close(descriptor_);
}

bool LineReader::has_line() const {
  return is_at_end_ || std::find(buffer_.begin() + static_cast<std::ptrdiff_t>(searched_),
                                 buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
                                 '\n') != buffer_.begin() + static_cast<std::ptrdiff_t>(end_);
}

std::optional<std::string_view> LineReader::next() {
  for (;;) {
    const char* data = buffer_.data();
    const void* found =
        end_ > searched_ ? std::memchr(data + searched_, '\n', end_ - searched_) : nullptr;
    if (found != nullptr) {
      const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - data);
      const std::string_view line(data + begin_, end - begin_);
      begin_ = searched_ = end + 1;
      return line;
    }
    searched_ = end_;
    if (!read_more()) break;  // which moves what is in the buffer
  }
  if (begin_ == end_) return std::nullopt;
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  begin_ = searched_ = end_;
  return rest;
}

/// False at the end of the file.
bool LineReader::read_more() {
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  if (is_at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kBlock) buffer_.resize(std::max(2 * end_, end_ + kBlock));
  for (;;) {
    const ssize_t count = read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(place_, errno);
    is_at_end_ = count == 0;
    end_ += static_cast<std::size_t>(count);
    return !is_at_end_;
  }
}

}  // namespace sdpa
