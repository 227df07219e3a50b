#include "io/array_file.h"

#include "base/error.h"
#include "io/file.h"
#include "io/json.h"
#include "io/json_writer.h"
#include "io/npy.h"
#include "io/quote.h"

#include <new>
#include <optional>

namespace sdpa {

namespace {

enum class Form { npy, json_array, json_object, zip, unknown };

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Form form_of(std::span<const std::byte> bytes) {
  if (is_npy(bytes)) return Form::npy;
  std::string_view text = as_text(bytes);
  if (text.starts_with("PK\x03\x04") || text.starts_with("PK\x05\x06")) return Form::zip;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return Form::unknown;
  if (text[first] == '[') return Form::json_array;
  if (text[first] == '{') return Form::json_object;
  return Form::unknown;
}

[[noreturn]] void refuse(Form form, std::span<const std::byte> bytes, std::string_view place) {
  if (bytes.empty()) throw Error(place, "is empty");
  if (form == Form::zip) throw Error(place, "is a zip archive (.npz), not one array");
  throw Error(place, "holds neither .npy nor JSON; it begins with " +
                         in_quotes(as_text(bytes).substr(0, 8)));
}

class BinaryFileWriter : public ArrayWriter {
 public:
  BinaryFileWriter(const std::string& path, std::string_view header) : file_(path) {
    if (file_.is_terminal())
      throw Error(file_.place(), "is a terminal, which shows no binary data");
    file_.write(header);
  }

  void append(std::span<const std::byte> values) override { file_.write(values); }
  void commit() override { file_.commit(); }

 private:
  OutputFile file_;
};

class JsonFileWriter : public ArrayWriter {
 public:
  JsonFileWriter(const std::string& path, const Shape& shape, Dtype dtype)
      : file_(path), json_(file_, shape, dtype) {}

  void append(std::span<const std::byte> values) override { json_.append(values); }
  void commit() override {
    json_.finish();
    file_.commit();
  }

 private:
  OutputFile file_;
  JsonWriter json_;
};

/// Calls `read`; memory that cannot be had is an error of the file like others.
template <class Read>
auto with_place(std::string_view place, Read read) {
  try {
    return read();
  } catch (const std::bad_alloc&) {
    throw Error(place, "no memory for what it holds");
  }
}

}  // namespace

std::string place_of(std::string_view argument) {
  return argument == "-" ? "standard input" : printable(argument);
}

Array read_array(std::string_view argument) {
  const std::string place = place_of(argument);
  return with_place(place, [&] {
    const FileBytes file = read_file(std::string(argument));
    switch (const Form form = form_of(file.bytes)) {
      case Form::npy:
        return read_npy(file, place);
      case Form::json_array:
      case Form::json_object:
        return read_json(file.bytes, place);
      default:
        refuse(form, file.bytes, place);
    }
  });
}

Case read_case(std::string_view argument) {
  const std::string place = place_of(argument);
  return with_place(place, [&] {
    const FileBytes file = read_file(std::string(argument));
    switch (const Form form = form_of(file.bytes)) {
      case Form::npy:
        throw Error(place, "holds one array, not q, k and v; name three with -q, -k and -v");
      case Form::json_array:
      case Form::json_object:
        return read_json_case(file.bytes, place);
      default:
        refuse(form, file.bytes, place);
    }
  });
}

std::unique_ptr<ArrayWriter> open_array_writer(const std::string& path, const Shape& shape,
                                               Dtype dtype) {
  const bool is_stream = path == "-" || path.starts_with("/dev/");
  if (path.ends_with(".json") || is_stream)
    return std::make_unique<JsonFileWriter>(path, shape, dtype);
  if (path.ends_with(".npy"))
    return std::make_unique<BinaryFileWriter>(path, npy_header(shape, dtype));
  if (path.ends_with(".bin")) return std::make_unique<BinaryFileWriter>(path, "");
  throw Error(printable(path), "the name of an output ends in .npy, .json or .bin");
}

}  // namespace sdpa
