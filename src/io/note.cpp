#include "io/note.h"

#include <utility>

namespace sdpa {

namespace {

NoteListener current_listener = nullptr;

}  // namespace

NoteListener set_note_listener(NoteListener listener) {
  return std::exchange(current_listener, listener);
}

void note(std::string_view place, const std::string& what) {
  if (current_listener != nullptr) current_listener(std::string(place) + ": " + what);
}

}  // namespace sdpa
