#pragma once

#include "io/members.h"

#include <memory>
#include <optional>
#include <string_view>

namespace sdpa {

/// Opens an archive, as numpy.savez and savez_compressed write it, of .npy files (with or without .npy
/// behind their names).
///
/// dtype   what the members hold, if the user says so; see read_npy
///
/// Throws Error that begins with `place` if the directory is damaged, or if a name is there twice; and
/// when a member is read, if it is damaged or packed in a way that is not read (see zip_reader.h), not a
/// .npy file that read_npy takes, or not of the size that the archive says. Time and memory are in
/// proportion to what the members' own headers announce, and no member takes memory before its size is
/// found possible for its packed size.
std::unique_ptr<MemberFile> open_npz(const FileBytes& file, std::string_view place,
                                     std::optional<Dtype> dtype = {});

}  // namespace sdpa
