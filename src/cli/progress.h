#pragma once

#include "base/index.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace sdpa {

/// When a run says on standard error how far it is.
enum class ShowProgress {
  automatic,  ///< if standard error is a terminal
  always,
  never,
};

/// How far a run is: "4096 of 65536 rows (6 %), 1365 rows/s, 0:45 left".
std::string progress_text(Index done, Index rows, double seconds);

/// One line on standard error about a run that takes more than a second, renewed at most ten times
/// a second, and erased at the end. The line is no longer than the terminal is wide.
///
/// Whoever writes to standard error meanwhile destroys this object first.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts the clock of a run over this many rows. `writes_to_terminal`: its output is to be read
  /// on a terminal while it runs; the line would stand between its rows, so that
  /// ShowProgress::automatic leaves it out. Tests have another stream, and a clock that they move.
  Progress(ShowProgress when, bool writes_to_terminal, Index rows, std::FILE* stream = stderr,
           std::function<Clock::time_point()> now = Clock::now);

  /// Erases the line.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many further rows are done.
  void add(Index rows);

 private:
  /// Puts `text` in place of the line that stands there.
  void show(std::string_view text);

  std::FILE* stream_;
  std::function<Clock::time_point()> now_;
  bool is_shown_;
  Index rows_;
  Index done_ = 0;
  Clock::time_point start_;
  Clock::time_point next_;   ///< not shown again before
  std::size_t columns_ = 0;  ///< of the line that stands there
};

}  // namespace sdpa
