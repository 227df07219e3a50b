#include "io/array_writer.h"

#include "base/error.h"
#include "io/json_writer.h"
#include "io/npy.h"
#include "io/output_file.h"
#include "io/output_place.h"
#include "io/quote.h"

#include <utility>

namespace sdpa {

namespace {

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

}  // namespace

std::unique_ptr<ArrayWriter> open_array_writer(const std::string& path, const Shape& shape,
                                               Dtype dtype) {
  if (path.ends_with(".npy") && !npy_can_name(dtype))
    throw Error(printable(path), "a .npy file has no name for " + std::string(name(dtype)) +
                                     "; .bin and .json hold it");
  if (path.ends_with(".npy"))
    return std::make_unique<BinaryFileWriter>(path, npy_header(shape, dtype));
  if (path.ends_with(".bin")) return std::make_unique<BinaryFileWriter>(path, "");
  if (path.ends_with(".json") || output_place(path).is_stream())
    return std::make_unique<JsonFileWriter>(path, shape, dtype);
  throw Error(printable(path), "the name of an output ends in .npy, .json or .bin");
}

}  // namespace sdpa
