#include "io/array_file.h"

#include "base/error.h"
#include "io/argument.h"
#include "io/file.h"
#include "io/json.h"
#include "io/json_writer.h"
#include "io/npy.h"
#include "io/npz.h"
#include "io/output_file.h"
#include "io/output_place.h"
#include "io/quote.h"
#include "io/raw.h"
#include "io/safetensors.h"
#include "io/zip_directory.h"

#include <new>
#include <utility>

namespace sdpa {

namespace {

enum class Form { npy, zip, safetensors, json, unknown };

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_json(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && (text[first] == '[' || text[first] == '{');
}

Form form_of(std::span<const std::byte> bytes) {
  if (is_npy(bytes)) return Form::npy;
  if (is_zip(bytes)) return Form::zip;
  if (is_safetensors(bytes)) return Form::safetensors;
  if (is_json(as_text(bytes))) return Form::json;
  return Form::unknown;
}

/// Files of other kinds that people have at hand, by their first bytes.
constexpr std::pair<std::string_view, std::string_view> kOtherKinds[] = {
    {"\x1f\x8b", "is packed by gzip; unpack it first"},
    {"BZh", "is packed by bzip2; unpack it first"},
    {"\3757zXZ", "is packed by xz; unpack it first"},
    {"\x28\xb5\x2f\xfd", "is packed by Zstandard; unpack it first"},
    {"\x89HDF", "is an HDF5 file, which is not read"},
};

[[noreturn]] void refuse_unknown(std::span<const std::byte> bytes, std::string_view place) {
  if (bytes.empty()) throw Error(place, "is empty");
  for (const auto& [beginning, what] : kOtherKinds)
    if (as_text(bytes).starts_with(beginning)) throw Error(place, what);
  throw Error(place, "holds neither .npy, .npz, .safetensors nor JSON, it begins with " +
                         in_quotes(as_text(bytes).substr(0, 8)) +
                         "; raw numbers are named FILE:TYPE:SHAPE, as q.bin:float32:128x64");
}

/// For files that say their types themselves.
void refuse_type(const Argument& argument) {
  if (argument.dtype && *argument.dtype != Dtype::float64)
    throw Error(
        argument.place,
        "the type alone is for .npy files; raw numbers are named FILE:TYPE:SHAPE, JSON is float64");
}

Array array_in(const FileBytes& file, const Argument& argument) {
  const std::string& place = argument.place;
  if (argument.shape) return read_raw(file, *argument.dtype, *argument.shape, place);
  const Form form = form_of(file.bytes);
  if (argument.tensor) {
    if (form == Form::safetensors) return read_safetensors(file, *argument.tensor, place);
    throw Error(place, "is not a .safetensors file, the only one with named tensors");
  }
  if (form == Form::npy) return read_npy(file, place, argument.dtype);
  if (form == Form::zip)
    throw Error(place,
                "is a zip archive (.npz), not one array; of members q, k and v it is given alone");
  if (form == Form::safetensors)
    throw Error(place, "is a .safetensors file, of which FILE#NAME names one tensor");
  refuse_type(argument);
  if (form == Form::json) return read_json(file.bytes, place);
  refuse_unknown(file.bytes, place);
}

Case case_in(const FileBytes& file, const Argument& argument,
             std::span<const std::string_view> further) {
  const std::string& place = argument.place;
  if (argument.shape || argument.tensor)
    throw Error(place, "is one array, not q, k and v; three are named by -q, -k and -v");
  switch (form_of(file.bytes)) {
    case Form::npy:
      throw Error(place, "holds one array, not q, k and v; three are named by -q, -k and -v");
    case Form::zip:
      return read_npz_case(file, place, argument.dtype);
    case Form::safetensors:
      if (argument.dtype)
        throw Error(place, "is a .safetensors file, which says its types itself; leave out :" +
                               std::string(name(*argument.dtype)));
      return read_safetensors_case(file, place);
    case Form::json:
      refuse_type(argument);
      return read_json_case(file.bytes, place, further);
    case Form::unknown:
      break;
  }
  refuse_unknown(file.bytes, place);
}

class BinaryFileWriter : public ArrayWriter {
 public:
  BinaryFileWriter(const std::string& path, std::string_view header) : file_(path) {
    if (file_.is_terminal())
      throw Error(file_.place(), "is a terminal, which shows no binary data");
    file_.write(header);
  }

  void append(std::span<const std::byte> values) override { file_.write(values); }
  void finish() override { file_.finish(); }
  void commit() override { file_.commit(); }
  std::string note() const override { return file_.note(); }

 private:
  OutputFile file_;
};

class JsonFileWriter : public ArrayWriter {
 public:
  JsonFileWriter(const std::string& path, const Shape& shape, Dtype dtype)
      : file_(path), json_(file_, shape, dtype) {}

  void append(std::span<const std::byte> values) override { json_.append(values); }
  void finish() override {
    if (!std::exchange(finished_, true)) json_.finish();
    file_.finish();
  }
  void commit() override {
    finish();
    file_.commit();
  }
  std::string note() const override { return file_.note(); }

 private:
  OutputFile file_;
  JsonWriter json_;
  bool finished_ = false;
};

/// Opens what the word names and calls read(bytes, argument); memory that cannot be had is then an
/// error of the file as others are.
template <class Read>
auto read_argument(std::string_view word, Read read) {
  const Argument argument = parse_argument(word);
  try {
    std::optional<std::size_t> needed;
    if (argument.shape)
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

Case read_case(std::string_view argument, std::span<const std::string_view> further) {
  return read_argument(argument, [&](const FileBytes& file, const Argument& parsed) {
    return case_in(file, parsed, further);
  });
}

std::unique_ptr<ArrayWriter> open_array_writer(const std::string& path, const Shape& shape,
                                               Dtype dtype) {
  if (path.ends_with(".npy"))
    return std::make_unique<BinaryFileWriter>(path, npy_header(shape, dtype));
  if (path.ends_with(".bin")) return std::make_unique<BinaryFileWriter>(path, "");
  if (path.ends_with(".json") || output_place(path).is_stream())
    return std::make_unique<JsonFileWriter>(path, shape, dtype);
  throw Error(printable(path), "the name of an output ends in .npy, .json or .bin");
}

}  // namespace sdpa
