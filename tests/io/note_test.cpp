#include "io/note.h"

#include "catch.h"

using namespace sdpa;

TEST_CASE("note: goes to the listener, and to nobody without one") {
  static std::string heard;
  const NoteListener before =
      set_note_listener([](const std::string& sentence) { heard = sentence; });
  note("q.csv", "has a header");
  CHECK(heard == "q.csv: has a header");
  set_note_listener(nullptr);
  note("q.csv", "again");
  CHECK(heard == "q.csv: has a header");
  set_note_listener(before);
}
