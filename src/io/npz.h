#pragma once

#include "io/case.h"
#include "io/file.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace sdpa {

/// Whether bytes begin as a zip archive does.
bool is_zip(std::span<const std::byte> bytes);

/// Reads an archive, as numpy.savez and savez_compressed write it, of exactly the members "q", "k"
/// and "v", each a .npy file (with or without .npy behind the name).
///
/// dtype   what the members hold, if the user says so; see read_npy
///
/// Throws Error that begins with `place` if the archive is damaged or encrypted, if a member is
/// missing, unknown, given twice, or not a .npy file that read_npy takes, if it is packed by
/// anything but deflate, or if its size is not what the archive says. A member takes no memory
/// before its claimed size is found possible for its packed size.
Case read_npz_case(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype = {});

}  // namespace sdpa
