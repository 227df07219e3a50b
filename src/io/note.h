#pragma once

#include <string>
#include <string_view>

namespace sdpa {

/// What a reader has to tell beside the array that it returns: a sentence that begins with the
/// place, as Error's. Nobody hears it unless there is a listener; the command has one.
using NoteListener = void (*)(const std::string& sentence);

/// Replaces the listener (null: none) and returns the one before.
NoteListener set_note_listener(NoteListener listener);

void note(std::string_view place, const std::string& what);

}  // namespace sdpa
