#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace sdpa {

/// What the name of an output leads to, through all symbolic links.
struct OutputPlace {
  /// A descriptor of this process: "-", "/dev/stdout" and "/dev/fd/N" mean what is open there, not
  /// the file behind it anew.
  std::optional<int> descriptor;
  std::string target;                 ///< else the path behind the links
  std::optional<struct stat> status;  ///< absent where nothing is yet, or the descriptor is closed

  /// A regular file, which is replaced, or a new one.
  bool is_file() const { return !descriptor && (!status || S_ISREG(status->st_mode)); }

  /// A descriptor, a pipe, a socket or a character device, whatever the folder it is in.
  bool is_stream() const;

  /// A device that keeps nothing, as /dev/null.
  bool is_sink() const;
};

/// Throws Error that names the output if its links lead nowhere, or if the system forbids to look.
OutputPlace output_place(const std::string& path);

/// How messages call an output.
std::string output_name(const std::string& path);

/// Whether two outputs would mix in one file, pipe or device. Hard links to one file are two
/// places, since outputs replace files; and whatever goes into a sink mixes with nothing. Throws
/// Error as output_place does.
bool is_same_output(const std::string& a, const std::string& b);

}  // namespace sdpa
