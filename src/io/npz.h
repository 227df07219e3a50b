#pragma once

#include "io/case.h"
#include "io/file.h"

#include <optional>
#include <string_view>

namespace sdpa {

/// Reads an archive, as numpy.savez and savez_compressed write it, of exactly the members "q", "k"
/// and "v", each a .npy file (with or without .npy behind the name).
///
/// dtype   what the members hold, if the user says so; see read_npy
///
/// Throws Error that begins with `place` if the archive or a member is damaged or packed in a way that
/// is not read (see zip_reader.h), if a member is missing, unknown, given twice, or not a .npy file that
/// read_npy takes, or if its size is not what the archive says. Time and memory are in proportion
/// to what the members' own headers announce, and no member takes memory before its size is found
/// possible for its packed size.
Case read_npz_case(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype = {});

}  // namespace sdpa
