#include "cli/progress.h"

#include "catch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <memory>

using namespace sdpa;

namespace {

using Stream = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

/// What progress is written to: a terminal or a file; and the other end, where a test reads it.
struct Screen {
  Stream from, to;  // the writing end goes first

  /// What has been written since the last call.
  std::string text() const {
    std::fflush(to.get());
    std::string all;
    std::array<char, 1000> part;
    for (ssize_t size; (size = read(fileno(from.get()), part.data(), part.size())) > 0;)
      all.append(part.data(), static_cast<std::size_t>(size));
    return all;
  }
};

Screen pipe_screen() {
  int ends[2];
  REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
  return {Stream(fdopen(ends[0], "r"), std::fclose), Stream(fdopen(ends[1], "w"), std::fclose)};
}

Screen terminal_screen() {
  const int from = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  REQUIRE(from >= 0);
  REQUIRE(grantpt(from) == 0);
  REQUIRE(unlockpt(from) == 0);
  const int to = open(ptsname(from), O_RDWR | O_NOCTTY);
  REQUIRE(to >= 0);
  return {Stream(fdopen(from, "r"), std::fclose), Stream(fdopen(to, "w"), std::fclose)};
}

}  // namespace

TEST_CASE("progress: what is done, how fast, and what time is left") {
  CHECK(progress_text(4096, 65536, 3.0) == "4096 of 65536 rows (6 %), 1365 rows/s, 0:45 left");
  CHECK(progress_text(1, 3, 2.0) == "1 of 3 rows (33 %), 0.5 rows/s, 0:04 left");
  CHECK(progress_text(10, 10, 2.5) == "10 of 10 rows (100 %), 4.0 rows/s, 0:00 left");
}

TEST_CASE("progress: long times have hours") {
  CHECK(progress_text(100, 72600, 10.0) == "100 of 72600 rows (0 %), 10 rows/s, 2:00:50 left");
  CHECK(progress_text(100, 7350, 10.0) == "100 of 7350 rows (1 %), 10 rows/s, 12:05 left");
}

TEST_CASE("progress: after a second, at most ten times a second, and gone at the end") {
  const Screen screen = pipe_screen();
  const Progress::Clock::time_point start;
  auto now = start;
  const auto add_at = [&](Progress& progress, int milliseconds, Index rows) {
    now = start + std::chrono::milliseconds(milliseconds);
    progress.add(rows);
    return screen.text();
  };
  {
    Progress progress(ShowProgress::always, false, 1000, screen.to.get(), [&] { return now; });
    CHECK(add_at(progress, 999, 10) == "");
    CHECK(add_at(progress, 1000, 90) == "\r100 of 1000 rows (10 %), 100 rows/s, 0:09 left");
    CHECK(add_at(progress, 1099, 100) == "");
    CHECK(add_at(progress, 1100, 700) == "\r900 of 1000 rows (90 %), 818 rows/s, 0:01 left");
    CHECK(add_at(progress, 2000, 100) == "\r1000 of 1000 rows (100 %), 500 rows/s, 0:00 left");
    // What is shorter leaves nothing of what stood there.
    CHECK(add_at(progress, 40000, 0) == "\r1000 of 1000 rows (100 %), 25 rows/s, 0:00 left ");
  }
  CHECK(screen.text() == "\r" + std::string(47, ' ') + "\r");
}

TEST_CASE("progress: on a terminal unless the output is there, or always, or never") {
  const auto is_shown = [](ShowProgress when, Screen (*make_screen)(), bool writes_to_terminal) {
    const Screen screen = make_screen();
    Progress::Clock::time_point now;
    Progress progress(when, writes_to_terminal, 10, screen.to.get(), [&] { return now; });
    now += std::chrono::seconds(2);
    progress.add(5);
    return screen.text() != "";
  };
  CHECK(is_shown(ShowProgress::automatic, terminal_screen, false));
  CHECK(!is_shown(ShowProgress::automatic, terminal_screen, true));
  CHECK(!is_shown(ShowProgress::automatic, pipe_screen, false));
  CHECK(is_shown(ShowProgress::always, terminal_screen, true));
  CHECK(is_shown(ShowProgress::always, pipe_screen, false));
  CHECK(!is_shown(ShowProgress::never, terminal_screen, false));
}
