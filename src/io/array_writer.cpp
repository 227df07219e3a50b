#include "io/array_writer.h"

#include "base/error.h"
#include "io/bundle.h"
#include "io/json_writer.h"
#include "io/npy.h"
#include "io/output_file.h"
#include "io/output_place.h"
#include "io/text_writer.h"

#include <utility>
#include <vector>

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

class TextFileWriter : public ArrayWriter {
 public:
  TextFileWriter(const std::string& path, const Shape& shape, Dtype dtype, char separator)
      : file_(path), text_(file_, shape, dtype, separator) {}

  void append(std::span<const std::byte> values) override { text_.append(values); }
  void finish() override { file_.finish(); }
  void commit() override { file_.commit(); }
  std::string note() const override { return file_.note(); }

 private:
  OutputFile file_;
  TextWriter text_;
};

/// One array of a file of several.
class MemberWriter : public ArrayWriter {
 public:
  MemberWriter(std::shared_ptr<Bundle> bundle, std::size_t number)
      : bundle_(std::move(bundle)), number_(number) {}

  void append(std::span<const std::byte> values) override { bundle_->append(number_, values); }
  void finish() override { bundle_->finish(number_); }
  void commit() override {
    finish();
    bundle_->commit();
  }
  std::string note() const override { return number_ == 0 ? bundle_->file().note() : ""; }

 private:
  std::shared_ptr<Bundle> bundle_;
  std::size_t number_;
};

/// A file that has been opened for a result takes further ones, until its first value is written.
std::shared_ptr<Bundle> bundle_at(const std::string& path, OutputForm form) {
  struct Open {
    std::string path;
    std::weak_ptr<Bundle> bundle;
  };
  static std::vector<Open> all;
  for (const Open& open : all) {
    const std::shared_ptr<Bundle> bundle = open.bundle.lock();
    if (bundle && !bundle->has_begun() && is_same_output(open.path, path)) return bundle;
  }
  auto bundle = std::make_shared<Bundle>(path, form);
  std::erase_if(all, [](const Open& open) { return open.bundle.expired(); });
  all.push_back({path, bundle});
  return bundle;
}

}  // namespace

std::unique_ptr<ArrayWriter> open_array_writer(const std::string& path, const Shape& shape,
                                               Dtype dtype, const std::string& name,
                                               std::optional<OutputForm> wanted) {
  const OutputForm form = output_form(path, wanted);
  switch (form) {
    case OutputForm::npy:
      require_npy_name(dtype, output_name(path));
      return std::make_unique<BinaryFileWriter>(path, npy_header(shape, dtype));
    case OutputForm::bin:
      return std::make_unique<BinaryFileWriter>(path, "");
    case OutputForm::json:
      return std::make_unique<JsonFileWriter>(path, shape, dtype);
    case OutputForm::csv:
    case OutputForm::txt:
      return std::make_unique<TextFileWriter>(path, shape, dtype,
                                              form == OutputForm::csv ? ',' : ' ');
    default: {
      std::shared_ptr<Bundle> bundle = bundle_at(path, form);
      const std::size_t number = bundle->add(name, shape, dtype);
      return std::make_unique<MemberWriter>(std::move(bundle), number);
    }
  }
}

}  // namespace sdpa
