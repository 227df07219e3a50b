#include "cli/progress.h"

#include "catch.h"

using namespace sdpa;

TEST_CASE("progress: what is done, how fast, and what time is left") {
  CHECK(progress_text(4096, 65536, 3.0) == "4096 of 65536 rows (6 %), 1365 rows/s, 0:45 left");
  CHECK(progress_text(1, 3, 2.0) == "1 of 3 rows (33 %), 0.5 rows/s, 0:04 left");
  CHECK(progress_text(10, 10, 2.5) == "10 of 10 rows (100 %), 4.0 rows/s, 0:00 left");
}

TEST_CASE("progress: long times have hours") {
  CHECK(progress_text(100, 72600, 10.0) == "100 of 72600 rows (0 %), 10 rows/s, 2:00:50 left");
  CHECK(progress_text(100, 7350, 10.0) == "100 of 7350 rows (1 %), 10 rows/s, 12:05 left");
}
