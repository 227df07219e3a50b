#include "io/bundle.h"

#include "base/error.h"
#include "io/npy.h"
#include "io/quote.h"
#include "io/safetensors.h"

#include <algorithm>

namespace sdpa {

Bundle::Bundle(const std::string& path, OutputForm form) : file_(path), form_(form) {
  if (file_.is_terminal()) throw Error(file_.place(), "is a terminal, which shows no binary data");
}

std::size_t Bundle::add(const std::string& name, const Shape& shape, Dtype dtype) {
  if (!parts_.empty() && file_.is_stream())
    throw Error(file_.place(), "is a stream, which takes one result of this form, not " +
                                   in_quotes(name) + " beside " + in_quotes(parts_[0].name));
  if (std::ranges::find(parts_, name, &Part::name) != parts_.end())
    throw Error(file_.place(), "would hold " + in_quotes(name) + " twice");
  if (form_ == OutputForm::npz) require_npy_name(dtype, file_.place());
  parts_.push_back({name, shape, dtype});
  return parts_.size() - 1;
}

void Bundle::append(std::size_t array, std::span<const std::byte> values) {
  begin();
  Part& part = parts_[array];
  put(part.offset, values);
  part.offset += values.size();
  if (form_ == OutputForm::npz) {
    ZipEntry& entry = entries_[array];
    entry.checksum = zip_checksum(entry.checksum, values.data(), values.size());
  }
}

void Bundle::finish(std::size_t array) {
  begin();
  Part& part = parts_[array];
  if (part.is_finished) return;
  part.is_finished = true;
  if (form_ == OutputForm::npz) put(part.offset, zip_descriptor(entries_[array]));
  if (!std::ranges::all_of(parts_, &Part::is_finished)) return;
  if (form_ == OutputForm::npz) put(end_, zip_directory(entries_, end_));
  file_.finish();
}

void Bundle::commit() {
  if (is_committed_ || !std::ranges::all_of(parts_, &Part::is_finished)) return;
  is_committed_ = true;
  file_.commit();
}

void Bundle::begin() {
  if (has_begun_) return;
  has_begun_ = true;
  if (form_ == OutputForm::npz)
    begin_npz();
  else
    begin_safetensors();
}

void Bundle::begin_npz() {
  for (Part& part : parts_) {
    const std::string header = npy_header(part.shape, part.dtype);
    const auto values =
        static_cast<std::uint64_t>(part.shape.element_count() * size_bytes(part.dtype));
    ZipEntry entry{part.name + ".npy", header.size() + values, end_,
                   zip_checksum(0, header.data(), header.size())};
    const std::string before = zip_header(entry) + header;
    put(end_, before);
    part.offset = end_ + before.size();
    end_ = part.offset + values + zip_descriptor(entry).size();
    entries_.push_back(std::move(entry));
  }
}

void Bundle::begin_safetensors() {
  std::vector<NewTensor> tensors;
  for (const Part& part : parts_) tensors.push_back({part.name, part.shape, part.dtype});
  const std::string header = safetensors_header(tensors);
  put(0, header);
  end_ = header.size();
  for (Part& part : parts_) {
    part.offset = end_;
    end_ += static_cast<std::uint64_t>(part.shape.element_count() * size_bytes(part.dtype));
  }
}

void Bundle::put(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (offset != position_) return file_.write_at(offset, bytes);
  file_.write(bytes);
  position_ += bytes.size();
}

void Bundle::put(std::uint64_t offset, std::string_view text) {
  put(offset, std::as_bytes(std::span(text)));
}

}  // namespace sdpa
