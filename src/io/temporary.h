#pragma once

#include <string>

namespace sdpa {

/// The name of a temporary file, unpredictable, in the folder of the file it will replace.
///
/// From construction to destruction every signal that ends the process, but SIGKILL, removes the file
/// before it does so (a signal that the parent process had ignored stays ignored). Nothing else
/// removes it: the owner renames or unlinks.
class TemporaryName {
 public:
  /// Throws Error without a place if the name is too long or too many are in use at once.
  explicit TemporaryName(const std::string& folder);
  ~TemporaryName();

  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  const char* path() const;

 private:
  int slot_;
};

/// Removes the files of all names that are in use; a signal handler may call it.
void remove_temporary_files() noexcept;

}  // namespace sdpa
