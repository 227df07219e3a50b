#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace sdpa {

namespace {

constexpr std::chrono::milliseconds kBeforeFirst{1000};
constexpr std::chrono::milliseconds kBetween{100};

bool is_wanted(ShowProgress when, bool writes_to_terminal, std::FILE* stream) {
  if (when == ShowProgress::automatic) return isatty(fileno(stream)) == 1 && !writes_to_terminal;
  return when == ShowProgress::always;
}

/// Characters that fit in a line. The last column stays free: some terminals go to the next line as
/// soon as it is written.
std::size_t line_width(std::FILE* stream) {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  const bool is_known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return (is_known ? size.ws_col : kUsual) - 1;
}

/// "0:07", "12:34", "1:02:03".
std::string time_text(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  const auto two_digits = [](long long number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  const std::string tail = ":" + two_digits(whole % 60);
  if (whole < 3600) return std::to_string(whole / 60) + tail;
  return std::to_string(whole / 3600) + ":" + two_digits(whole / 60 % 60) + tail;
}

}  // namespace

std::string progress_text(Index done, Index rows, double seconds) {
  const auto percent =
      static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(rows));
  const double rate = static_cast<double>(done) / seconds;
  char rate_digits[32];
  std::snprintf(rate_digits, sizeof rate_digits, rate < 10 ? "%.1f" : "%.0f", rate);
  return std::to_string(done) + " of " + std::to_string(rows) + " rows (" +
         std::to_string(percent) + " %), " + rate_digits + " rows/s, " +
         time_text(static_cast<double>(rows - done) / rate) + " left";
}

Progress::Progress(ShowProgress when, bool writes_to_terminal, Index rows, std::FILE* stream,
                   std::function<Clock::time_point()> now)
    : stream_(stream),
      now_(std::move(now)),
      is_shown_(is_wanted(when, writes_to_terminal, stream)),
      rows_(rows),
      start_(now_()),
      next_(start_ + kBeforeFirst) {}

Progress::~Progress() {
  if (columns_ == 0) return;
  show("");
  std::fputc('\r', stream_);
}

void Progress::add(Index rows) {
  done_ += rows;
  if (!is_shown_) return;
  const Clock::time_point now = now_();
  if (now < next_) return;
  next_ = now + kBetween;
  show(progress_text(done_, rows_, std::chrono::duration<double>(now - start_).count()));
}

void Progress::show(std::string_view text) {
  text = text.substr(0, line_width(stream_));
  std::string line = "\r";
  line += text;
  // Spaces instead of the terminal's own command: there may be no terminal, or a simple one.
  line.append(columns_ - std::min(columns_, text.size()), ' ');
  std::fwrite(line.data(), 1, line.size(), stream_);
  columns_ = text.size();
}

}  // namespace sdpa
