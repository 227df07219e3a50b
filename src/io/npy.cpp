#include "io/npy.h"

#include "base/error.h"
#include "io/npy_header.h"
#include "io/quote.h"

#include <algorithm>
#include <utility>

namespace sdpa {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionEnd = kMagic.size() + 2;

/// An element type of a .npy file.
struct Type {
  Dtype dtype;
  bool big_endian;
};

/// A void of two bytes is what numpy makes of bfloat16.
constexpr std::pair<std::string_view, Dtype> kKinds[] = {
    {"f2", Dtype::float16}, {"f4", Dtype::float32}, {"f8", Dtype::float64}, {"V2", Dtype::bfloat16},
    {"i1", Dtype::int8},    {"u1", Dtype::uint8},   {"i2", Dtype::int16},   {"u2", Dtype::uint16},
    {"i4", Dtype::int32},   {"u4", Dtype::uint32},  {"i8", Dtype::int64},   {"u8", Dtype::uint64},
    {"b1", Dtype::boolean},
};

std::string_view why_refused(std::string_view kind) {
  if (kind.starts_with('O')) return ": Python objects, which are never unpickled";
  if (kind.starts_with('c')) return ": complex numbers";
  if (kind.find_first_of("US") == 0 && kind.find_first_of("0123456789") == 1)
    return ": texts, not numbers";
  if (kind.starts_with("M8") || kind.starts_with("m8")) return ": times, not numbers";
  if (kind == "f12" || kind == "f16") return ": long double, which float64 does not hold";
  if (kind.starts_with('V')) return ": a void, which does not say what its bytes mean";
  return "";
}

Type type_of(std::string_view descr, std::string_view place) {
  const bool has_order = !descr.empty() && std::string_view("<>=|").find(descr[0]) != descr.npos;
  const std::string_view kind = descr.substr(has_order ? 1 : 0);
  if (has_order)
    for (const auto& [known, dtype] : kKinds)
      if (kind == known && (descr[0] != '|' || size_bytes(dtype) == 1 || known == "V2"))
        return {dtype, descr[0] == '>' && size_bytes(dtype) > 1};
  // A name of numpy's, such as float32, means the byte order of the machine.
  if (const auto dtype = parse_dtype(descr); dtype && name(*dtype) == descr) return {*dtype, false};
  throw Error(place, "type " + in_quotes(descr) + " is not taken" + std::string(why_refused(kind)));
}

/// The type of the file, but where the user says of which float the bits are that the file does not
/// call one: 16-bit integers and voids of two bytes (numpy has no bfloat16); voids of one byte and f1,
/// as which the types of 8 bits are saved.
Type agreed_type(std::string_view descr, std::optional<Dtype> wanted, std::string_view place) {
  const bool is_float8 = wanted && is_float(*wanted) && size_bytes(*wanted) == 1;
  if (is_float8 && (descr.ends_with("V1") || descr.ends_with("f1"))) return {*wanted, false};
  Type type = type_of(descr, place);
  const bool is_16_bits =
      type.dtype == Dtype::int16 || type.dtype == Dtype::uint16 || descr.ends_with("V2");
  if (is_16_bits && (wanted == Dtype::float16 || wanted == Dtype::bfloat16)) type.dtype = *wanted;
  return type;
}

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t position) {
  return std::to_integer<std::uint8_t>(bytes[position]);
}

/// Where the dictionary begins, behind its length.
std::size_t dictionary_begin(std::span<const std::byte> bytes) {
  return kVersionEnd + (byte_at(bytes, kMagic.size()) == 1 ? 2 : 4);
}

NpyHeader dictionary_of(std::span<const std::byte> header, std::string_view place) {
  const std::size_t begin = dictionary_begin(header);
  const std::string_view text(reinterpret_cast<const char*>(header.data()) + begin,
                              header.size() - begin);
  const bool python_2 = byte_at(header, kMagic.size()) < 3;
  return parse_npy_header(text, python_2, place);
}

std::string_view descr_of(Dtype dtype) {
  for (const auto& [kind, known] : kKinds)
    if (known == dtype) return kind;
  return "";
}

}  // namespace

bool is_npy(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), kMagic.size()) == kMagic;
}

std::size_t npy_data_offset(std::span<const std::byte> beginning, std::size_t file_size,
                            std::string_view place) {
  if (!is_npy(beginning)) throw Error(place, "does not begin as a .npy file does");
  if (beginning.size() < kVersionEnd)
    throw Error(place, "ends within the first " + std::to_string(kVersionEnd) +
                           " bytes of a .npy file, after " + std::to_string(beginning.size()));
  const int major = byte_at(beginning, kMagic.size());
  const int minor = byte_at(beginning, kMagic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw Error(place, ".npy format " + std::to_string(major) + "." + std::to_string(minor) +
                           " does not exist; 1.0, 2.0 and 3.0 do");

  const std::size_t begin = dictionary_begin(beginning);
  if (beginning.size() < begin) throw Error(place, "ends within the length of the header");
  std::size_t size = 0;
  for (std::size_t i = begin; i-- > kVersionEnd;) size = size << 8 | byte_at(beginning, i);
  if (size > file_size - begin)
    throw Error(place, "the header should have " + std::to_string(size) + " bytes, the file has " +
                           std::to_string(file_size - begin) + " left");
  // What numpy writes has some hundred.
  constexpr std::size_t kLongest = std::size_t{1} << 20;
  if (size > kLongest)
    throw Error(place, "the header has " + std::to_string(size) + " bytes, the most is " +
                           std::to_string(kLongest));
  return begin + size;
}

FileLayout npy_layout(std::span<const std::byte> header, std::string_view place,
                      std::optional<Dtype> dtype) {
  NpyHeader dictionary = dictionary_of(header, place);
  const Type type = agreed_type(dictionary.descr, dtype, place);
  return {type.dtype, file_shape(std::move(dictionary.shape), place), type.big_endian,
          dictionary.fortran_order};
}

std::optional<int> npy_character_bytes(std::span<const std::byte> header, std::string_view place) {
  const NpyHeader dictionary = dictionary_of(header, place);
  const std::string_view descr = dictionary.descr;
  const bool is_one = dictionary.shape.empty() || dictionary.shape == std::vector<Index>{1};
  if (!is_one || descr.size() < 3) return std::nullopt;
  if (descr[1] == 'U' && descr[0] != '>') return 4;
  if (descr[1] == 'S') return 1;
  return std::nullopt;
}

Array read_npy(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype) {
  const std::size_t size = file.bytes.size();
  const std::size_t data =
      npy_data_offset(file.bytes.first(std::min(size, kNpyBeginning)), size, place);
  const FileLayout layout = npy_layout(file.bytes.first(data), place, dtype);
  return decode(file.part(data, size - data), layout, place);
}

void require_npy_name(Dtype dtype, std::string_view place) {
  if (descr_of(dtype).empty())
    throw Error(place, "numpy has no name for " + std::string(name(dtype)) +
                           "; .safetensors and .bin hold it");
}

std::string npy_header(const Shape& shape, Dtype dtype) {
  const std::string dictionary = "{'descr': '" + std::string(size_bytes(dtype) == 1 ? "|" : "<") +
                                 std::string(descr_of(dtype)) +
                                 "', 'fortran_order': False, 'shape': " + shape.text() + ", }";
  // At most kMostAxes extents: the length fits the two bytes of format 1.0.
  constexpr std::size_t kPrefix = kVersionEnd + 2;
  constexpr std::size_t kAlignment = 64;
  const std::size_t padding = kAlignment - 1 - (kPrefix + dictionary.size()) % kAlignment;
  const std::size_t length = dictionary.size() + padding + 1;

  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  header += dictionary + std::string(padding, ' ') + '\n';
  return header;
}

}  // namespace sdpa
