#pragma once

#include "array/array.h"
#include "io/decode.h"
#include "io/file.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sdpa {

/// Whether bytes begin as a .npy file does.
bool is_npy(std::span<const std::byte> bytes);

/// Reads one array from the bytes of a .npy file (format 1.0, 2.0 or 3.0).
///
/// place   how messages call the file
/// dtype   what the user says the file holds, if anything: of which float the bits are, if the file
///         has 16-bit integers, voids of one or two bytes, or f1. Anything else is left to declared().
///
/// Returns an array of the file's own type, which shares the file's memory where the layout allows
/// it; big-endian and Fortran-ordered data are converted. 2-byte voids are bfloat16, which numpy
/// and sdpa store so.
///
/// The header must be the dictionary that numpy writes, in any layout Python allows for one: of its
/// literals, strings without escapes (also u''), True, False, and decimal integers (also 2L up to
/// format 2.0). Types may be spelt as '<f4' or as 'float32'. Throws Error if it is anything else,
/// if a key is missing, unknown or given twice, if the type is not a real number that float64
/// holds, or if the bytes after the header are not as many as the shape says.
Array read_npy(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype = {});

/// The same in two steps, for bytes that come one after the other. How far the header reaches can be
/// seen from the first kNpyBeginning bytes of a file, or from all of a shorter one, of `file_size`
/// bytes; how the data lie, from those as far as the header reaches. Both throw Error as read_npy.
constexpr std::size_t kNpyBeginning = 12;
std::size_t npy_data_offset(std::span<const std::byte> beginning, std::size_t file_size,
                            std::string_view place);
FileLayout npy_layout(std::span<const std::byte> header, std::string_view place,
                      std::optional<Dtype> dtype = {});

/// The bytes of a character, 4 or 1, if the header is that of a single text, as numpy saves a str.
std::optional<int> npy_character_bytes(std::span<const std::byte> header, std::string_view place);

/// Throws Error that begins with `place` if .npy has no name for the type, as for floats of 8 bits.
void require_npy_name(Dtype dtype, std::string_view place);

/// Everything before the data in a file of format 1.0: C order, little-endian, padded so that the
/// data begin at a multiple of 64 bytes.
std::string npy_header(const Shape& shape, Dtype dtype);

}  // namespace sdpa
