#include "io/array_file.h"

#include "base/error.h"
#include "io/argument.h"
#include "io/bits_hint.h"
#include "io/declared.h"
#include "io/factor.h"
#include "io/file.h"
#include "io/fitting.h"
#include "io/hex.h"
#include "io/index.h"
#include "io/json.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/quote.h"
#include "io/raw.h"
#include "io/safetensors.h"
#include "io/text.h"
#include "io/zip_directory.h"

#include <new>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

enum class Form { npy, zip, safetensors, json, text, unknown };

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_json(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '[' || text[first] == '{');
}

/// Files of other kinds that people have at hand, by their first bytes.
constexpr std::pair<std::string_view, std::string_view> kOtherKinds[] = {
    {"\x1f\x8b", "is packed by gzip; unpack it first"},
    {"BZh", "is packed by bzip2; unpack it first"},
    {"\3757zXZ", "is packed by xz; unpack it first"},
    {"\x28\xb5\x2f\xfd", "is packed by Zstandard; unpack it first"},
    {"\x89HDF", "is an HDF5 file, which is not read"},
};

Form form_of(std::span<const std::byte> bytes) {
  if (is_npy(bytes)) return Form::npy;
  if (is_zip(bytes)) return Form::zip;
  if (is_safetensors(bytes)) return Form::safetensors;
  if (is_json(as_text(bytes))) return Form::json;
  for (const auto& [beginning, what] : kOtherKinds)
    if (as_text(bytes).starts_with(beginning)) return Form::unknown;
  return is_text(bytes) ? Form::text : Form::unknown;
}

[[noreturn]] void refuse_unknown(std::span<const std::byte> bytes, std::string_view place) {
  if (bytes.empty()) throw Error(place, "is empty");
  for (const auto& [beginning, what] : kOtherKinds)
    if (as_text(bytes).starts_with(beginning)) throw Error(place, what);
  throw Error(place, "holds neither .npy, .npz, .safetensors, JSON nor text, it begins with " +
                         in_quotes(as_text(bytes).substr(0, 8)) +
                         "; raw numbers are named FILE:TYPE:SHAPE, as q.bin:float32:128x64");
}

/// The type to which decimal numbers are rounded.
Dtype rounding_type(const Argument& argument) {
  return argument.dtype.value_or(Dtype::float64);
}

/// The file of several members, if it is one; JSON that is not an object is none.
std::unique_ptr<MemberFile> members_in(const FileBytes& file, const Argument& argument, Form form) {
  if (form == Form::zip) return open_npz(file, argument.place, argument.dtype);
  if (form == Form::safetensors) return open_safetensors(file, argument.place);
  if (form == Form::json && is_json_object(file.bytes))
    return open_json(file.bytes, argument.place, rounding_type(argument));
  return nullptr;
}

/// Of raw numbers, or of text if it is not as long as they are, or if it holds just as many numbers:
/// by chance that hardly happens.
Array of_shape(const FileBytes& file, const Argument& argument) {
  const std::string& place = argument.place;
  const Shape& shape = *argument.shape;
  if (argument.is_hex) return read_hex(file.bytes, *argument.dtype, shape, place);
  const Form form = form_of(file.bytes);
  const bool is_as_long = argument.dtype && std::ssize(file.bytes) ==
                                                shape.element_count() * size_bytes(*argument.dtype);
  if (form == Form::text &&
      (!is_as_long || count_text_numbers(file.bytes) == shape.element_count()))
    return read_text(file.bytes, rounding_type(argument), shape, place);
  if (argument.member || form == Form::npy ||
      (!is_as_long && form != Form::text && form != Form::unknown))
    throw Error(place, "says its shape itself; leave out :" + shape_word(shape));
  if (!argument.dtype)
    throw Error(place, "raw numbers need their type, as " + argument.file +
                           ":float32:" + shape_word(shape));
  return read_raw(file, *argument.dtype, shape, place);
}

/// What the file holds, before anything that the argument says of its numbers.
Array stored_array(const FileBytes& file, const Argument& argument) {
  const std::string& place = argument.place;
  if (argument.shape) return of_shape(file, argument);
  if (argument.is_hex)
    throw Error(place,
                "hexadecimal words need their shape, as " + argument.file + ":hex-int8:128x64");
  const Form form = form_of(file.bytes);
  const bool lists_members = form == Form::zip || form == Form::safetensors;
  if (argument.member || lists_members) {
    if (const auto members = members_in(file, argument, form))
      return read_member_array(*members, argument.member, place);
    throw Error(place, "has no members; a .npz or .safetensors file or a JSON object has");
  }
  if (form == Form::npy) return read_npy(file, place, argument.dtype);
  if (form == Form::json) return read_json(file.bytes, place, rounding_type(argument));
  if (form == Form::text) return read_text(file.bytes, rounding_type(argument), {}, place);
  refuse_unknown(file.bytes, place);
}

Array array_in(const FileBytes& file, const Argument& argument) {
  Array array = stored_array(file, argument);
  const Dtype stored = array.dtype();
  if (argument.index) array = indexed(array, *argument.index, argument.place);
  if (argument.dtype) array = declared(array, *argument.dtype, argument.place);
  const bool are_bits = argument.dtype == Dtype::bfloat16 &&
                        (size_bytes(stored) == 2 && form_of(file.bytes) != Form::safetensors);
  if (are_bits) note_float16_bits(array, argument.place);
  if (argument.factor) array = multiplied(array, *argument.factor, argument.place);
  return array;
}

Case case_in(const FileBytes& file, const Argument& argument, const CaseWishes& wishes) {
  const std::string& place = argument.place;
  const Form form = form_of(file.bytes);
  const bool is_one = argument.shape || argument.member || argument.index || argument.is_hex;
  const auto members = is_one ? nullptr : members_in(file, argument, form);
  if (!members) {
    if (!is_one && form == Form::unknown) refuse_unknown(file.bytes, place);
    throw Error(place, "holds one array, not q, k and v; three are named by -q, -k and -v");
  }
  Case found = case_from(*members, wishes, place);
  std::vector<CaseMember*> all = {&found.q, &found.k, &found.v};
  if (found.output) all.push_back(&*found.output);
  for (CaseMember* operand : all) {
    const std::string operand_place = place + ": " + printable(operand->name);
    if (argument.dtype) operand->array = declared(*operand->array, *argument.dtype, operand_place);
    if (argument.factor)
      operand->array = multiplied(*operand->array, *argument.factor, operand_place);
  }
  return found;
}

/// Opens what the word names and calls read(bytes, argument); memory that cannot be had is then an
/// error of the file as others are.
template <class Read>
auto read_argument(std::string_view word, Read read) {
  const Argument argument = parse_argument(word);
  try {
    std::optional<std::size_t> needed;
    if (argument.shape && argument.dtype && !argument.is_hex)
      needed =
          static_cast<std::size_t>(argument.shape->element_count() * size_bytes(*argument.dtype));
    return read(read_file(argument.file, needed), argument);
  } catch (const std::bad_alloc&) {
    throw Error(argument.place, "no memory for what it holds");
  }
}

}  // namespace

std::string place_of(std::string_view argument) {
  return argument_place(argument);
}

Array read_array(std::string_view argument) {
  return read_argument(argument, array_in);
}

Case read_case(std::string_view argument, const CaseWishes& wishes) {
  return read_argument(argument, [&](const FileBytes& file, const Argument& parsed) {
    return case_in(file, parsed, wishes);
  });
}

}  // namespace sdpa
